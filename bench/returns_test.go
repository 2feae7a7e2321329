package main

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
)

// The first snapshot of a large thread allocates little beside itself: what is read of each
// message is encoded from where the database has it.
func TestFirstSnapshotAllocatesLittle(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	file := filepath.Join(t.TempDir(), "large.db")
	if err := fillReturns(t.Context(), file, 2<<20); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, err := engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "bench", Model: "script"}}, Models: map[string]spool.Model{"script": script{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var before, native, formed runtime.MemStats
	runtime.ReadMemStats(&before)
	encoded, err := e.EncodedSnapshot(t.Context(), returnThread, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoded.Release()
	runtime.ReadMemStats(&native)
	inForm, err := e.FormedSnapshot(t.Context(), returnThread, agui.NewForm(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer inForm.Release()
	runtime.ReadMemStats(&formed)
	if took := native.TotalAlloc - before.TotalAlloc; took > 2*uint64(encoded.Size) {
		t.Errorf("a snapshot of %d bytes allocated %d", encoded.Size, took)
	}
	most := 3 * uint64(encoded.Size) // it is decoded
	if raceDetector {                // which drops buffers that are kept
		most = 4 * uint64(encoded.Size)
	}
	if took := formed.TotalAlloc - native.TotalAlloc; took > most {
		t.Errorf("in the form of AG-UI it allocated %d", took)
	}
}
