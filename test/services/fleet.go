//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// service is a kind of server that tests can use.
type service struct {
	name     string // as people call it
	variable string // of the environment, holds its address
	absent   string // what is not there, and how to get it
	// find returns the path of the server's binary, and "" when there is none.
	find func(h host) string
	// plan says how to run the binary.
	plan func(binary string, s testserver.Site) testserver.Program
}

var services = []service{redis, postgres}

// fleet is the servers of one run.
type fleet struct {
	host    host
	dir     string
	running []running
}

// running is a server with its name.
type running struct {
	name string
	*testserver.Server
}

// start starts what is not there already and returns the environment that has all
// addresses. What was started before an error is running, too: stop is called in any case.
func (f *fleet) start(ctx context.Context) ([]string, error) {
	environ := f.host.environ
	var account *syscall.Credential
	for _, s := range services {
		if address := f.host.getenv(s.variable); address != "" {
			f.host.sayf("services: %s is the one of %s", s.name, s.variable)
			continue
		}
		environ = testserver.Without(environ, s.variable)
		binary := s.find(f.host)
		if binary == "" {
			if f.host.getenv("SPOOL_TEST_REQUIRE") == "1" {
				return nil, fmt.Errorf("%s is required: %s", s.name, s.absent)
			}
			f.host.sayf("skipped: tests against %s (%s)", s.name, s.absent)
			continue
		}
		if f.dir == "" {
			var err error
			if account, err = testserver.Unprivileged(); err != nil {
				return nil, err
			}
			if f.dir, err = testserver.Directory("", "spool-services-*", account); err != nil {
				return nil, err
			}
		}
		address, err := f.launch(ctx, s, binary, account)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", s.name, err)
		}
		environ = append(environ, s.variable+"="+address)
	}
	return environ, nil
}

func (f *fleet) launch(ctx context.Context, s service, binary string, account *syscall.Credential) (string, error) {
	began := time.Now()
	dir, err := testserver.Directory(f.dir, filepath.Base(binary)+"-*", account)
	if err != nil {
		return "", err
	}
	in := testserver.Site{Dir: dir, Account: account}
	server, err := testserver.Launch(ctx, s.plan(binary, in), in)
	if err != nil {
		return "", err
	}
	f.running = append(f.running, running{s.name, server})
	f.host.sayf("services: %s (%s) at 127.0.0.1:%d, after %.1f s", s.name, binary, server.Port,
		time.Since(began).Seconds())
	return server.Address, nil
}

// stop ends the servers and removes their files. It does not return before they are gone.
func (f *fleet) stop() {
	if f.dir == "" {
		return
	}
	began := time.Now()
	var group sync.WaitGroup
	for _, s := range f.running {
		select {
		case <-s.Gone:
			f.host.sayf("services: %s ended before the command did; it said\n%s", s.name, s.LastWords())
		default:
		}
		group.Go(s.Stop)
	}
	group.Wait()
	if err := os.RemoveAll(f.dir); err != nil {
		f.host.sayf("services: %v", err)
	}
	f.host.sayf("services: stopped, after %.1f s", time.Since(began).Seconds())
}
