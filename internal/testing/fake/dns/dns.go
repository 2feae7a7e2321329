// Package dns is a resolver for tests of names that lead elsewhere a moment later.
package dns

import (
	"context"
	"encoding/binary"
	"io"
	"net"
)

// typeA is the type of a question for an IPv4 address.
const typeA = 1

// Resolver answers every question for an IPv4 address with the next one, and has no others.
func Resolver(next func() [4]byte) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			answer(server, next)
		}()
		return client, nil
	}}
}

// answer reads one question in the form of TCP, and answers it.
func answer(conn net.Conn, next func() [4]byte) {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	// The header, and the question up to the end of its name, type and class.
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5
	reply := append([]byte{}, query[:end]...)
	copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if binary.BigEndian.Uint16(query[end-4:end-2]) == typeA {
		reply[7] = 1
		addr := next()
		reply = append(reply, 0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, addr[:]...)
	}
	binary.BigEndian.PutUint16(length[:], uint16(len(reply))) //nolint:gosec // a question and sixteen bytes
	_, _ = conn.Write(append(length[:], reply...))
}
