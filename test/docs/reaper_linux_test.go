package docs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	reaperVariable = "SPOOL_DOCS_REAPER" // makes the test binary a reaper
	leftBehind     = 3                   // its exit status where processes were left
	reaperGrace    = 10 * time.Second    // how long what was told to end may take
)

// isolated makes the reaper a network of its own. Without it, pages share the machine's.
func isolated(network bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if network {
		attributes.Cloneflags = syscall.CLONE_NEWNET
		if os.Geteuid() != 0 {
			attributes.Cloneflags |= syscall.CLONE_NEWUSER
			attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
			attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
			attributes.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
		}
	}
	return attributes
}

// reap runs a command, and then names what it has left behind, on stderr, and ends it. It
// inherits what the command's processes leave behind when they end, so that none escapes.
func reap(args []string) int {
	if os.Getenv(reaperVariable) == "network" {
		if err := loopback(); err != nil {
			fmt.Fprintln(os.Stderr, "bring up the loopback interface:", err)
			return 1
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "become a reaper:", err)
		return 1
	}
	if len(args) == 0 {
		return 0 // somebody wants to know whether this can be done
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)

	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stdout
	command.ExtraFiles = []*os.File{os.NewFile(3, "steps")}
	command.Env = os.Environ()
	for i, variable := range command.Env {
		if strings.HasPrefix(variable, reaperVariable+"=") {
			command.Env[i] = "PAGE_OF_DOCS=1" // a name with SPOOL_ would be told as one that nobody reads
		}
	}
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			fmt.Fprintln(os.Stderr, "the shell:", err)
		}
	case <-told:
		kill()
		return 1
	}

	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(reaperGrace)
	for {
		left := descendants()
		if len(left) == 0 {
			return 0
		}
		select {
		case <-tick.C:
		case <-late:
			for _, p := range left {
				fmt.Fprintln(os.Stderr, p.command)
			}
			kill()
			return leftBehind
		case <-told:
			kill()
			return 1
		}
	}
}

// kill ends all descendants, also those that are made meanwhile.
func kill() {
	for range 100 {
		left := descendants()
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

type process struct {
	pid, parent int
	command     string
}

// descendants returns the processes below this one which have not ended.
func descendants() []process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var all []process
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state parent: the name may have anything in it.
		pid, _, _ := strings.Cut(string(stat), " ")
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		number, _ := strconv.Atoi(pid)
		parent, _ := strconv.Atoi(fields[1])
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		all = append(all, process{number, parent, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))})
	}
	below := map[int]bool{os.Getpid(): true}
	var found []process
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if below[p.parent] && !below[p.pid] {
				below[p.pid], grown = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// loopback brings up the interface lo of a new network.
func loopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)

	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}
