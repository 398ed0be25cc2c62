#include "submission/supervisors_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <stdexcept>

#include "front/remote/archive.h"
#include "world/process_world.h"

namespace shardlings::submission {
namespace {

/// A file like the supervisor's, of this process alone.
int file_of_its_own(const SupervisorsFile& like) {
  Descriptor file(memfd_create("shardlings", MFD_CLOEXEC));
  if (file.get() < 0 || !wire::write_case(file.get(), like.text, static_cast<std::size_t>(like.ranks), like.number)) {
    throw std::runtime_error("there is no room for a case in memory");
  }
  return file.release();
}

}  // namespace

std::string this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return id + " " + name;
}

SupervisorsFile supervisors_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) return {};
  wire::MappedFile mapped(file.get());
  return {path, this_machine(), std::string(mapped.case_text()), mapped.black_box().ranks, mapped.header().number};
}

std::string to_bytes(const SupervisorsFile& file) {
  front::remote::Writer writer;
  writer << file.path << file.machine << file.text << file.ranks << file.number;
  return writer.bytes();
}

SupervisorsFile file_from(const std::string& bytes) {
  front::remote::Reader reader(bytes);
  SupervisorsFile file;
  reader >> file.path >> file.machine >> file.text >> file.ranks >> file.number;
  return file;
}

NotesFile::NotesFile(const SupervisorsFile& of, CrewPulse& pulse, const back::Progress& progress) : pulse_(pulse) {
  is_supervisors_ = opens(of);
  if (!is_supervisors_) {
    descriptor_.reset(file_of_its_own(of));
    mapped_.emplace(descriptor_.get());
  }
  mapped_->header().hello = wire::FileHeader::kHello;
  if (is_supervisors_) return;
  const Range ranks = world::ranks_of_process(of.ranks, progress.processes(), progress.process());
  pulse_.tell_of(*mapped_, static_cast<int>(ranks.begin), static_cast<int>(ranks.size()));
}

// On another machine, or where processes are numbered anew, the path may lead to a file of somebody else, or to none.
bool NotesFile::opens(const SupervisorsFile& of) try {
  if (of.machine != this_machine()) return false;
  descriptor_.reset(open(of.path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (descriptor_.get() < 0) return false;
  mapped_.emplace(descriptor_.get());
  return mapped_->case_text() == of.text;
} catch (const std::runtime_error&) {
  return false;
}

// What ends by an exception has mostly noted why.
NotesFile::~NotesFile() {
  if (std::uncaught_exceptions() > 0) pulse_.tell_at_once();
  pulse_.tell_of_none();
}

}  // namespace shardlings::submission
