// Only there to have its headers precompiled.
int main() {}
