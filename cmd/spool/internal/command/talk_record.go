package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
)

func runCommand() talkCommand {
	return talkCommand{
		name: "run", most: 1,
		usages: [][2]string{
			{"export --thread THREAD [flags]", "write the record of a thread as a file"},
			{"export --run RUN [flags]", "write the record of the thread of a run"},
		},
		about: `Write the record of a thread as a file of JSON lines: its messages, runs and events, and what each commit has
changed. The console opens the file without a server, and shows the thread as it was at each moment.`,
		flags: []talkFlag{
			talkText("thread", "THREAD", "the thread", func(f *talkFlags) *string { return &f.thread }),
			talkText("run", "RUN", "a run of the thread", func(f *talkFlags) *string { return &f.run }),
			talkText("output", "FILE", "the file, which must not exist; default stdout",
				func(f *talkFlags) *string { return &f.output }),
		},
		run: exportRun,
	}
}

// exportRun executes run export.
func exportRun(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	ctx, release := untilSignal(ctx, os.Interrupt)
	defer release()
	switch {
	case len(args) != 1 || args[0] != "export":
		return usagef("run wants the command export")
	case (f.thread == "") == (f.run == ""):
		return usagef("run export wants --thread or --run")
	}
	thread := spool.ThreadID(f.thread)
	if f.run != "" {
		out, err := c.Outcome(ctx, spool.RunID(f.run))
		if err != nil {
			return err
		}
		thread = out.ThreadID
	}
	file, err := c.Record(ctx, thread)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.output == "" {
		return copyRecord(h.stdout, file)
	}
	to, err := os.OpenFile(f.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	if err := errors.Join(copyRecord(to, file), to.Close()); err != nil {
		return errors.Join(err, os.Remove(f.output)) //nolint:gosec // it was made just now
	}
	return nil
}

// errCut says that a record lacks its last line.
var errCut = errors.New("the server has cut the record off")

// copyRecord copies a record, and returns an error for one that was cut.
func copyRecord(to io.Writer, from io.Reader) error {
	last := &lastLine{}
	if _, err := io.Copy(io.MultiWriter(to, last), from); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	var end struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(last.text, &end) != nil || end.Kind != "end" {
		return errCut
	}
	return nil
}

// lastLine keeps the end of what is written, in which the last line of a record is.
type lastLine struct{ text []byte }

// Write implements [io.Writer].
func (l *lastLine) Write(b []byte) (int, error) {
	l.text = append(l.text, b...)
	if at := bytes.LastIndexByte(bytes.TrimRight(l.text, "\n"), '\n'); at >= 0 {
		l.text = append([]byte(nil), l.text[at+1:]...)
	}
	return len(b), nil
}
