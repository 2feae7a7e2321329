//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// service is a kind of server that tests can use.
type service struct {
	name     string // as people call it
	variable string // of the environment, holds its address
	absent   string // what is not there, and how to get it
	// find returns the path of the server's binary, and "" when there is none.
	find func(h host) string
	// plan says how to run the binary.
	plan func(binary string, s site) program
}

var services = []service{redis, postgres}

// site is where a server lives.
type site struct {
	// dir is a directory that is its own, and belongs to account.
	dir string
	// account is who it runs as; nil is who we are.
	account *syscall.Credential
}

// fleet is the servers of one run.
type fleet struct {
	host    host
	dir     string
	running []*server
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
		environ = without(environ, s.variable)
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
			if account, err = unprivileged(); err != nil {
				return nil, err
			}
			if f.dir, err = directory("", "spool-services-*", account); err != nil {
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
	dir, err := directory(f.dir, filepath.Base(binary)+"-*", account)
	if err != nil {
		return "", err
	}
	in := site{dir, account}
	running, err := launch(ctx, s.plan(binary, in), in)
	if err != nil {
		return "", err
	}
	running.name = s.name
	f.running = append(f.running, running)
	f.host.sayf("services: %s (%s) at 127.0.0.1:%d, after %.1f s", s.name, binary, running.port, time.Since(began).Seconds())
	return running.address, nil
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
		case <-s.gone:
			f.host.sayf("services: %s ended before the command did; it said\n%s", s.name, s.lastWords())
		default:
		}
		group.Go(s.stop)
	}
	group.Wait()
	if err := os.RemoveAll(f.dir); err != nil {
		f.host.sayf("services: %v", err)
	}
	f.host.sayf("services: stopped, after %.1f s", time.Since(began).Seconds())
}

// unprivileged returns whom the servers run as, nil unless we are root: PostgreSQL refuses
// to be root, and nothing that listens needs to.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is who we are
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("read the ids of %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root, and neither postgres nor nobody is there to run servers as")
}

// directory makes a directory that belongs to account.
func directory(parent, pattern string, account *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", err
	}
	if account != nil {
		if err := os.Chown(dir, int(account.Uid), int(account.Gid)); err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
	}
	return dir, nil
}

func without(environ []string, variable string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, variable+"=")
	})
}
