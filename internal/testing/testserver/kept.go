//go:build unix

package testserver

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// Kept is a server in a temporary folder of its own. Any goroutine may start and stop it. It ends at the latest
// together with this process. Address is safe for concurrent use, and the other methods are not.
type Kept struct {
	server  *Server
	dir     string
	address string
}

// Keep starts a program in a new folder, whose name has the pattern of [os.MkdirTemp]. After an error nothing is left.
func Keep(ctx context.Context, pattern string, plan func(in Site) Program) (*Kept, error) {
	account, err := Unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := Directory("", pattern, account)
	if err != nil {
		return nil, err
	}
	k := &Kept{dir: dir}
	in := Site{Dir: dir, Account: account}
	OnLastingThread(func() { k.server, err = Launch(ctx, plan(in), in) })
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	k.address = k.server.Address
	return k, nil
}

// ErrNoPostgres is the error of [KeepPostgres] on a machine without PostgreSQL.
var ErrNoPostgres = errors.New("no postgres (apt-get install postgresql)")

// KeepPostgres starts the PostgreSQL of this machine with a new cluster: see [Keep] and [Postgres].
func KeepPostgres(ctx context.Context, pattern string, c Cluster) (*Kept, error) {
	binary := FindPostgres(Path(os.Getenv("PATH")), PostgresVersions)
	if binary == "" {
		return nil, ErrNoPostgres
	}
	return Keep(ctx, pattern, func(in Site) Program { return Postgres(binary, in, c) })
}

// Address returns what clients are given. It stays the same when the server starts again.
func (k *Kept) Address() string { return k.address }

// Pid returns the number of the server's process.
func (k *Kept) Pid() int { return k.server.Pid() }

// StopWith ends the server with these signals: see [Server.StopWith].
func (k *Kept) StopWith(signals ...syscall.Signal) { k.server.StopWith(signals...) }

// Again starts the server that has ended, in the same folder and on the same port.
func (k *Kept) Again(ctx context.Context) (err error) {
	OnLastingThread(func() {
		server, failed := k.server.Again(ctx)
		if err = failed; err == nil {
			k.server = server
		}
	})
	return err
}

// Close ends the server and removes its files.
func (k *Kept) Close() {
	k.server.Stop()
	_ = os.RemoveAll(k.dir)
}

// keeper runs functions on one OS thread that it never gives back.
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

// OnLastingThread runs a function on an OS thread that lives as long as the process, and returns when the function
// has ended. A child of the function that is to end with its thread ends with the process instead: see [OwnGroup].
func OnLastingThread(call func()) {
	done := make(chan struct{})
	keeper() <- func() {
		defer close(done)
		call()
	}
	<-done
}
