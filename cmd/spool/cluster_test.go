package main

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/pgtest"
)

const clusterToken = "a-token-of-the-test"

// The script of deploy/cluster starts a cluster that runs agents behind nginx, and ends all of its processes.
func TestClusterScript(t *testing.T) {
	t.Parallel()

	findNginx(t)
	database := pgtest.Database(t, nil)
	cmd := exec.CommandContext(context.Background(), "../../deploy/cluster/up.sh", strconv.Itoa(fourPorts(t)))
	cmd.Env = append(os.Environ(), "SPOOL_DATABASE="+database, "SPOOL_DATABASE_POOL=6", "SPOOL_TOKEN="+clusterToken, "SPOOL_BIN="+os.Args[0], asCommand+"=1")
	stderr := &printed{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()

	var url string
	var pids []string
	lines := bufio.NewScanner(stdout)
	for url == "" && lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
			at, processes, _ := strings.Cut(rest, ", processes ")
			url, pids = at, strings.Fields(processes)
		}
	}
	if len(pids) != 4 {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		t.Fatalf("%d processes are ready: %v\n%s", len(pids), cmd.Wait(), stderr)
	}
	c, err := client.New(url, client.Options{Token: client.StaticToken(clusterToken)})
	if err != nil {
		t.Fatal(err)
	}
	started, err := c.Run(patiently(t), client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: "hello"})
	if err != nil || !started.Accepted {
		t.Fatalf("start: %+v, %v", started, err)
	}
	if out, err := c.Await(patiently(t), "r1"); err != nil || out.State != spool.Completed || !strings.Contains(out.Text, "hello") {
		t.Errorf("the run came to %+v, %v", out, err)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the script ends with %v\n%s", err, stderr)
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("the process %d is still there", pid)
		}
	}
}

// fourPorts returns the first of four ports in a row that nobody listens on. They are below those that the
// system gives to connections.
func fourPorts(t *testing.T) int {
	t.Helper()

	for port := 20000 + os.Getpid()%1000*4; port < 32000; port += 4 {
		free := true
		for i := range 4 {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("there are no four free ports in a row")
	return 0
}
