-- No table changes. Runs and parks have fields in their JSON that programs without this step do not know: what a
-- model's answer can be resumed with, the lists of tools, messages to steer with, JSON answers, the schema and the
-- state of a question. Such a program would drop them when it writes the row again, so it must not open the file.
SELECT 1;
