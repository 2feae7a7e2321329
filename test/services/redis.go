//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// redis is a Redis, or a Valkey, that keeps nothing on the disk.
var redis = service{
	name:     "Redis",
	variable: "SPOOL_TEST_REDIS",
	absent:   "no redis-server or valkey-server binary; apt-get install redis-server",
	find:     findRedis,
	plan:     planRedis,
}

func findRedis(h host) string { return testserver.Find(h.path(), "redis-server", "valkey-server") }

func planRedis(binary string, in testserver.Site) testserver.Program {
	return testserver.Program{
		Binary: binary,
		Port:   redisPort,
		Args: func(port int) []string {
			return []string{
				"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", in.Dir,
				"--save", "", "--appendonly", "no", "--daemonize", "no",
			}
		},
		Ready:   redisReady,
		Address: func(port int) string { return fmt.Sprintf("redis://127.0.0.1:%d/0", port) },
		Stop:    []syscall.Signal{syscall.SIGTERM},
	}
}

// redisReady asks who listens: only the answer of this process counts.
func redisReady(ctx context.Context, pid, port int) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return false
		}
	}
	if _, err := io.WriteString(conn, "INFO server\r\n"); err != nil {
		return false
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if id, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "process_id:"); ok {
			return id == strconv.Itoa(pid)
		}
	}
	return false
}
