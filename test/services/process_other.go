//go:build unix && !linux

package main

import "syscall"

// ownGroup puts a process into a group of its own, so that a Ctrl-C at the terminal does
// not reach it by itself.
func ownGroup(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
