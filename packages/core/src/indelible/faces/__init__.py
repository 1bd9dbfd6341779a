"""What people use: memories, stores, collections, asking. No SQL and no ranking here."""
