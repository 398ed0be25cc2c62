// A program that needs nothing of the system: what the walls of jails are tried with.
int main() {}
