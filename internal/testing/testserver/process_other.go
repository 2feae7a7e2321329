//go:build unix && !linux

package testserver

import "syscall"

// OwnGroup puts a process into a group of its own, so that a Ctrl-C at the terminal does
// not reach it by itself.
func OwnGroup(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
