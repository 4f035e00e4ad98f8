"""Front ends: they read a file, ask what is doubtful, call the library, and write."""
