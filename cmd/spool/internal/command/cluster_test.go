package command

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/wire"
)

const clusterToken = "a-token-of-the-test"

// clusterBlock returns the block of docs/operations/cluster.md that has a text, with other words in place of some.
func clusterBlock(t *testing.T, has string, words ...string) string {
	t.Helper()

	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "operations", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(page), "```sh\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if !strings.Contains(text, has) {
			continue
		}
		for i := 0; i < len(words); i += 2 {
			if !strings.Contains(text, words[i]) {
				t.Fatalf("the block lacks %q:\n%s", words[i], text)
			}
		}
		return strings.NewReplacer(words...).Replace(text)
	}
	t.Fatalf("the page has no block with %q", has)
	return ""
}

// What the page starts over a PostgreSQL is ready, and says what the page shows.
func TestClusterPage(t *testing.T) {
	t.Parallel()

	port := fourPorts(t)
	text := clusterBlock(t, "spool migrate", "postgres://spool:secret@db.internal:5432/spool",
		"'"+pgtest.Database(t, nil)+"'",
		":8080", ":"+strconv.Itoa(port), ":8081", ":"+strconv.Itoa(port+1), ":8082", ":"+strconv.Itoa(port+2))
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "spool")); err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(text, "\n# ")
	stderr := &printed{}
	// The last lines end what the block has started, one process after another.
	cmd := exec.CommandContext(patiently(t), "bash", "-e", "-c",
		text+"\necho; jobs=($(jobs -p)); kill ${jobs[@]}; wait ${jobs[@]} || true; echo ${#jobs[@]}")
	cmd.Dir, cmd.Stderr = t.TempDir(), stderr
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SPOOL_DATABASE_POOL=6", asCommand+"=1")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), strings.TrimSpace(want)) || !strings.HasSuffix(string(out), "\n3\n") {
		t.Errorf("%v, printed\n%s\nwant %s\n%s", err, out, want, stderr)
	}
}

// The script of deploy/cluster starts a cluster that runs agents behind nginx, and ends all of its processes.
func TestClusterScript(t *testing.T) {
	t.Parallel()

	findNginx(t)
	database := pgtest.Database(t, nil)
	block := clusterBlock(t, "deploy/cluster/up.sh", "SPOOL_TOKEN=$(openssl rand -hex 16)",
		"exec env SPOOL_TOKEN="+clusterToken,
		"postgres://...", "'"+database+"'", "up.sh 8080", "up.sh "+strconv.Itoa(fourPorts(t)))
	cmd := exec.CommandContext(context.Background(), "bash", "-c", block)
	cmd.Dir = filepath.Join("..", "..", "..", "..")
	cmd.Env = append(os.Environ(), "SPOOL_DATABASE_POOL=6", "SPOOL_BIN="+os.Args[0], asCommand+"=1")
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
	if out, err := c.Await(patiently(t), "r1"); err != nil || out.State != wire.Completed ||
		!strings.Contains(out.Text, "hello") {
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

// nextPorts is where [fourPorts] has looked last: tests beside each other get different ports.
var nextPorts atomic.Int64

func init() { //nolint:gochecknoinits // so that test processes beside each other begin at different ports
	nextPorts.Store(20000 + int64(os.Getpid()%1000)*4)
}

// fourPorts returns the first of four ports in a row that nobody listens on. They are below those that the
// system gives to connections.
func fourPorts(t *testing.T) int {
	t.Helper()

	for port := int(nextPorts.Add(4)); port < 32000; port = int(nextPorts.Add(4)) {
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
