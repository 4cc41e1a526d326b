"""A store session over SQLite that is not shipped: it keeps the port honest.

It has what scheduling, acquiring, firing, completing, releasing and misfires ask of the port, and does each call in
one statement. A store in memory could cheat (values that are shared, calls that loop); this one can not.
"""
