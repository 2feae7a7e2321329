//go:build unix

package testserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FindPgBouncer returns the program's path, and "" if there is none. Debian has it where only root looks.
func FindPgBouncer(path []string) string { return Find(append(path, "/usr/sbin"), "pgbouncer") }

// PgBouncer is a pooler in transaction mode before the server of a URL. It has up to pool connections to each
// database, for up to 1,000 clients. Its Address names the database and the account of the URL.
func PgBouncer(binary string, in Site, server *url.URL, pool int) Program {
	config := filepath.Join(in.Dir, "pgbouncer.ini")
	pid := filepath.Join(in.Dir, "pid")
	return Program{
		Binary: binary,
		Prepare: func(context.Context) error {
			password, _ := server.User.Password()
			_, err := in.WriteFile("users", fmt.Sprintf("%q %q\n", server.User.Username(), password))
			return err
		},
		// The port is only in the file, which is written anew at each start.
		Args: func(port int) []string {
			if _, err := in.WriteFile("pgbouncer.ini", pgbouncerConfig(server, in.Dir, port, pool)); err != nil {
				return []string{"--help"} // it ends, which is an error of the start
			}
			return []string{config}
		},
		Ready: func(ctx context.Context, process, port int) bool {
			text, err := os.ReadFile(pid)
			return err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(process) && answers(ctx, port)
		},
		Address: func(port int) string {
			u := *server
			u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
			return u.String()
		},
		Stop: []syscall.Signal{syscall.SIGTERM},
	}
}

func pgbouncerConfig(server *url.URL, dir string, port, pool int) string {
	return fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
pidfile = %s/pid
auth_type = md5
auth_file = %s/users
admin_users = %s
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
`, server.Hostname(), server.Port(), port, dir, dir, server.User.Username(), pool)
}

func answers(ctx context.Context, port int) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
