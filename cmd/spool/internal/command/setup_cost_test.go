package command

import (
	"log/slog"
	"os"
	"runtime"
	"testing"
)

// The setup checks the configuration of the server without a server: all routes and their document are most of the
// time of a start, and are made once.
func TestSetupMakesNoRoutes(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	const most = 2 << 20 // the routes take 17 MiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := loadSetup(options{listen: "127.0.0.1:0"}, os.LookupEnv, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("the setup allocated %d bytes", took)
	}
}
