package main

import (
	"net/netip"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/model/demo"
)

// newModel makes a model of the configuration and says in a word what it is.
func newModel(m config.Model) (spool.Model, string, error) {
	return demo.New(demo.Config{Delay: demoDelay}), demoRemark, nil
}

// newTool makes a tool of the configuration, which may reach the given private addresses.
func newTool(t config.Tool, egress []netip.Prefix) (spool.Tool, error) {
	return spool.Tool{ToolSpec: spool.ToolSpec{Name: t.Name}}, nil
}
