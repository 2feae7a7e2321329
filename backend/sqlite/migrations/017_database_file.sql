-- What the file says of itself. in_use is 0 in a file that was closed, and counts the logs that
-- were begun while a process has the file for itself. wal_salt is the first salt of the log
-- that began when it opened the file: the salts of later logs count on from it.
CREATE TABLE database_file (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT    NOT NULL,
    in_use   INTEGER NOT NULL,
    wal_salt INTEGER NOT NULL
) STRICT;
