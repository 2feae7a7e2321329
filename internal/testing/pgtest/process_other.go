//go:build !unix

package pgtest

import "context"

// process is a program that this process has started. There is none on this system.
type process struct{}

const elsewhere = "no way to start servers on this system"

func launch(context.Context, Options) (*Server, string, error) { return nil, elsewhere, nil }

func bounce(context.Context, string, int) (*process, string, error) { return nil, elsewhere, nil }

func (*process) address() string             { return "" }
func (*process) crash()                      {}
func (*process) again(context.Context) error { return nil }
func (*process) signal(bool) error           { return nil }
func (*process) close()                      {}
