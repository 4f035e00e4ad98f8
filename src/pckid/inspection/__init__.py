"""What a table holds before it is clustered: columns, problems, advice."""
