package command

import (
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A process that is killed within the first second of a new data folder leaves a folder that the next process opens.
// With SPOOL_TEST_LONG=1 there are 200 kills, and otherwise as many as fit into ten seconds.
func TestKillNewFolder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}

	const kills = 200
	base, began, long := t.TempDir(), time.Now(), os.Getenv("SPOOL_TEST_LONG") == "1"
	n, unusable := 0, 0
	for ; n < kills && (long || time.Since(began) < 10*time.Second); n++ {
		args := []string{"serve", "--listen", "127.0.0.1:0"}
		if n%4 == 3 {
			args = []string{"import", filepath.Join("testdata", "b2fc5f86.jsonl")}
		}
		dir := filepath.Join(base, strconv.Itoa(n))
		// The times are spread over the second. Most are in its first moments, when the database is made.
		_, part := math.Modf(float64(n) * math.Phi)
		at := time.Duration(math.Pow(part, 4) * float64(time.Second))
		killNew(t, dir, at, append(args, "--data", dir)...)
		db, err := openData(options{data: dir}, slog.New(slog.DiscardHandler))
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			unusable++
			t.Errorf("%s, killed after %s: %v", args[0], at, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d folders are unusable", unusable, n)
}

// killNew runs a command and kills it when its new data folder has that age.
func killNew(t *testing.T, dir string, age time.Duration, args ...string) {
	t.Helper()

	cmd := exec.CommandContext(patiently(t), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SPOOL_TOKEN=", "SPOOL_DATABASE=", asCommand+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for made := false; !made; {
		select {
		case <-look.C:
			_, err := os.Lstat(dir)
			made = err == nil
		case <-exited:
			if _, err := os.Lstat(dir); err != nil {
				t.Fatalf("%v ended without a folder: %v", args, err)
			}
			made = true
		}
	}
	select {
	case <-time.After(age):
	case <-exited: // an import ends by itself
	}
	_ = cmd.Process.Kill()
	<-exited
}
