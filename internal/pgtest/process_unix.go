//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spoolhq/spool/internal/testserver"
)

// process is a program that this process has started, with its folder.
type process struct {
	dir    string
	server *testserver.Server
}

// keeper runs functions on a thread that lives as long as the process. The kernel ends a server together with
// the thread that has started it.
var keeper = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// kept runs a function on the thread of the keeper.
func kept(call func()) {
	done := make(chan struct{})
	keeper() <- func() {
		defer close(done)
		call()
	}
	<-done
}

// launch starts a PostgreSQL, or says what is absent.
func launch(ctx context.Context, o Options) (*Server, string, error) {
	binary := testserver.FindPostgres(testserver.Path(os.Getenv("PATH")), testserver.PostgresVersions)
	if binary == "" {
		return nil, "no postgres (apt-get install postgresql)", nil
	}
	settings := o.Settings
	if o.NoSync {
		settings = append(slices.Clip(settings), testserver.NoSync...)
	}
	running, err := run(ctx, "spool-postgres-*", func(in testserver.Site) testserver.Program {
		return testserver.Postgres(binary, in, settings...)
	})
	if err != nil {
		return nil, "", err
	}
	return &Server{url: running.address(), running: running}, "", nil
}

// bounce starts a PgBouncer, or says what is absent.
func bounce(ctx context.Context, address string, pool int) (*process, string, error) {
	binary := testserver.FindPgBouncer(testserver.Path(os.Getenv("PATH")))
	if binary == "" {
		return nil, "no pgbouncer (apt-get install pgbouncer)", nil
	}
	server, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	running, err := run(ctx, "spool-pgbouncer-*", func(in testserver.Site) testserver.Program {
		return testserver.PgBouncer(binary, in, server, pool)
	})
	return running, "", err
}

// run starts a program in a folder of its own.
func run(ctx context.Context, pattern string, plan func(in testserver.Site) testserver.Program) (*process, error) {
	account, err := testserver.Unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := testserver.Directory("", pattern, account)
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	in := testserver.Site{Dir: dir, Account: account}
	kept(func() { p.server, err = testserver.Launch(ctx, plan(in), in) })
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return p, nil
}

func (p *process) address() string { return p.server.Address }

// crash ends the server without a checkpoint.
func (p *process) crash() { p.server.StopWith(syscall.SIGQUIT) }

// again starts the server that has ended.
func (p *process) again(ctx context.Context) (err error) {
	kept(func() {
		server, failed := p.server.Again(ctx)
		if err = failed; err == nil {
			p.server = server
		}
	})
	return err
}

// signal stops the server and its children, or lets them go on.
func (p *process) signal(goOn bool) error {
	which, signal := -p.server.Pid(), syscall.SIGSTOP
	if goOn {
		signal = syscall.SIGCONT
	}
	// The children of PostgreSQL have process groups of their own. The parent comes first, so that there are no new ones.
	if err := syscall.Kill(which, signal); err != nil {
		return err
	}
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(p.server.Pid())).Output() //nolint:gosec,noctx // it is quick
	if err != nil {
		return fmt.Errorf("pgrep: %w", err)
	}
	for text := range strings.FieldsSeq(string(children)) {
		child, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if err := syscall.Kill(child, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// close ends the server and removes its files.
func (p *process) close() {
	p.server.Stop()
	_ = os.RemoveAll(p.dir)
}
