package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

const codeTooManyConnections = "53300"

// Away reports whether an error of [Open] says that the server is away and may come back: it refuses connections,
// starts, stops, has no free connection, or did not answer in time. A host that does not exist, a wrong password and a
// database that is missing are no such errors.
func Away(err error) bool {
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refusal.Code {
		case codeAdminShutdown, codeCrashShutdown, codeCannotConnect, codeTooManyConnections:
			return true
		default: // PgBouncer has one code for everything that is wrong
			return strings.HasPrefix(refusal.Code, "08") &&
				(strings.Contains(refusal.Message, "connect failed") ||
					strings.Contains(refusal.Message, "cannot connect to server"))
		}
	}
	if host, ok := errors.AsType[*net.DNSError](err); ok {
		return !host.IsNotFound
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return true
	}
	for _, gone := range []error{
		context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED,
		syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENOENT, // the last one is of a socket's file
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}
