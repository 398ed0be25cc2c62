#!/usr/bin/env python3
"""Whether a file is an MPIJob of Kubeflow's operator, version v2beta1, that can start the command.

Fields as in the operator's custom resource definition (deploy/v2beta1/mpi-operator.yaml in github.com/kubeflow/mpi-operator);
an unknown one is refused by the server. Prints each fault; the status is 77 where there is no PyYAML."""

import sys

try:
    import yaml
except ImportError:
    print("PyYAML is missing: apt-get install python3-yaml")
    sys.exit(77)

TOP = {"apiVersion", "kind", "metadata", "spec"}
SPEC = {"slotsPerWorker", "runLauncherAsWorker", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath",
        "launcherCreationPolicy", "mpiImplementation"}
RUN_POLICY = {"activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "managedBy", "schedulingPolicy", "suspend",
              "ttlSecondsAfterFinished"}
REPLICA = {"replicas", "restartPolicy", "template"}
CONTAINER = {"name", "image", "command", "args", "env", "workingDir", "resources", "securityContext", "volumeMounts",
             "imagePullPolicy", "ports", "readinessProbe"}

faults = []


def expect(condition, fault):
    if not condition:
        faults.append(fault)


def known(value, fields, where):
    expect(isinstance(value, dict), f"{where} is no mapping")
    for name in set(value) - fields if isinstance(value, dict) else ():
        faults.append(f"{where} has no field {name}")


def check_pod(name, replica):
    known(replica, REPLICA, name)
    pod = replica["template"]["spec"]
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    expect(len(pod["containers"]) == 1, f"{name} has one container")
    for container in pod["containers"]:
        known(container, CONTAINER, f"{name}'s container")
        for field in ("name", "image", "command"):
            expect(container.get(field), f"{name}'s container has no {field}")
        for text in container.get("command", []) + container.get("args", []):
            expect(isinstance(text, str), f"{name}: {text!r} is no text")
        for mount in container.get("volumeMounts", []):
            expect(mount["name"] in volumes, f"{name} mounts {mount['name']}, which is no volume of the pod")


def check(job):
    known(job, TOP, "the file")
    expect(job["apiVersion"] == "kubeflow.org/v2beta1", "apiVersion is not kubeflow.org/v2beta1")
    expect(job["kind"] == "MPIJob", "kind is not MPIJob")
    expect(job["metadata"].get("name"), "metadata has no name")
    spec = job["spec"]
    known(spec, SPEC, "spec")
    known(spec.get("runPolicy", {}), RUN_POLICY, "runPolicy")
    policy = spec.get("runPolicy", {}).get("cleanPodPolicy", "None")
    expect(policy in ("None", "Running", "All"), f"cleanPodPolicy is {policy}")
    expect(isinstance(spec.get("slotsPerWorker"), int), "slotsPerWorker is no number")
    replicas = spec["mpiReplicaSpecs"]
    expect(set(replicas) == {"Launcher", "Worker"}, "mpiReplicaSpecs are Launcher and Worker")
    for name, replica in replicas.items():
        check_pod(name, replica)
    # The first process is beside the command, so the launcher's pod is one of the hosts.
    expect(spec.get("runLauncherAsWorker") is True, "runLauncherAsWorker is not set")
    expect(replicas["Launcher"].get("replicas") == 1, "there is one launcher")
    slots = spec["slotsPerWorker"] * (1 + replicas["Worker"]["replicas"])
    words = " ".join(replicas["Launcher"]["template"]["spec"]["containers"][0]["args"]).split()
    expect("--backend" in words and words[words.index("--backend") + 1] == "mpi", "the launcher asks for no --backend mpi")
    expect(int(words[words.index("-n") + 1]) <= slots, f"-n asks for more than the {slots} slots")
    expect(words[words.index("--hostfile") + 1] == "/etc/mpi/hostfile", "the operator's hosts are in /etc/mpi/hostfile")


with open(sys.argv[1], encoding="utf-8") as file:
    check(yaml.safe_load(file))
for one in faults:
    print(one)
sys.exit(1 if faults else 0)
