"""The database itself: tables, types, dialects, transactions. It knows nothing of scheduling."""
