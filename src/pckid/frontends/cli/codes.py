"""What commands end with. Wrong use is 2, as click has it."""

EXIT_OK, EXIT_RUNTIME, EXIT_DATA, EXIT_MODEL = 0, 1, 3, 4
