package testserver

import "syscall"

// OwnGroup puts a process into a group of its own, so that a Ctrl-C at the terminal does
// not reach it by itself. It gets the signal when this process is killed and can no longer
// stop it.
func OwnGroup(orphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
}
