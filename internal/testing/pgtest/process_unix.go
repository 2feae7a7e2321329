//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// process is a program that this process has started, with its folder.
type process struct{ kept *testserver.Kept }

// launch starts a PostgreSQL, or says what is absent.
func launch(ctx context.Context, o Options) (*Server, string, error) {
	kept, err := testserver.KeepPostgres(ctx, "spool-postgres-*",
		testserver.Cluster{NoSync: o.NoSync, Settings: o.Settings})
	switch {
	case errors.Is(err, testserver.ErrNoPostgres):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	}
	return &Server{url: kept.Address(), running: &process{kept}}, "", nil
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
	kept, err := testserver.Keep(ctx, "spool-pgbouncer-*", func(in testserver.Site) testserver.Program {
		return testserver.PgBouncer(binary, in, server, pool)
	})
	if err != nil {
		return nil, "", err
	}
	return &process{kept}, "", nil
}

func (p *process) address() string { return p.kept.Address() }

// crash ends the server without a checkpoint.
func (p *process) crash() { p.kept.StopWith(syscall.SIGQUIT) }

// again starts the server that has ended.
func (p *process) again(ctx context.Context) error { return p.kept.Again(ctx) }

// signal stops the server and its children, or lets them go on.
func (p *process) signal(goOn bool) error {
	which, signal := -p.kept.Pid(), syscall.SIGSTOP
	if goOn {
		signal = syscall.SIGCONT
	}
	// The children of PostgreSQL have process groups of their own. The parent comes first, so that there are no new ones.
	if err := syscall.Kill(which, signal); err != nil {
		return err
	}
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(p.kept.Pid())).Output() //nolint:gosec,noctx // it is quick
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
func (p *process) close() { p.kept.Close() }
