package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
)

// units has what one of each thing costs, as it was measured on one machine.
type units struct {
	// Commit, Date and Machine say what was measured, when and where.
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Machine string `json:"machine"`

	Postgres storeCosts `json:"postgres"`
	SQLite   storeCosts `json:"sqlite"`

	// Notify is the CPU time of PostgreSQL, in seconds, for one notification and one process that listens. NotifySend is
	// that of sending one, with its whole transaction.
	Notify     float64 `json:"notifyCpu"`
	NotifySend float64 `json:"notifySendCpu"`
	// ColdWAL is the WAL of a run of one step directly after a checkpoint, in bytes: each page that it changes is in the
	// WAL as a whole.
	ColdWAL float64 `json:"coldWalBytes"`
	// WatcherMemory is the resident memory of an API node for one open stream, in bytes.
	WatcherMemory float64 `json:"watcherMemoryBytes"`
}

// storeCosts has the costs on one store.
type storeCosts struct {
	// Run is a run of one step in a new thread, with one delta: the start, the claim, the model call and the end.
	Run cost `json:"run"`
	// Step is each further step: one model call with one tool call.
	Step cost `json:"step"`
	// Item is one delta that a model sends in a burst, so that many are written at once.
	Item cost `json:"item"`
	// Stream is one second of a model that sends 50 deltas a second: what the items of a burst would have cost is not
	// in it.
	Stream cost `json:"streamSecond"`
	// Watched is what one client at another node adds to such a second, over HTTP, with the client's own CPU time.
	Watched cost `json:"watchedSecond"`
}

// cost is what one thing costs.
type cost struct {
	// Kept is how much the tables and indexes of the record grow, and Passing those of run streams, which are dropped
	// after the stream's grace. Bytes.
	Kept    float64 `json:"keptBytes"`
	Passing float64 `json:"passingBytes"`
	// Written is the WAL without whole pages for PostgreSQL, and what the process hands to the system for SQLite.
	Written float64 `json:"writtenBytes"`
	// Engine is the CPU time of Spool's processes and Database that of PostgreSQL, in seconds.
	Engine   float64 `json:"engineCpu"`
	Database float64 `json:"databaseCpu"`
	// Trips are the round trips to PostgreSQL.
	Trips float64 `json:"roundTrips"`
}

// plus returns the sum of c and n times d.
func (c cost) plus(n float64, d cost) cost {
	return cost{
		c.Kept + n*d.Kept, c.Passing + n*d.Passing, c.Written + n*d.Written,
		c.Engine + n*d.Engine, c.Database + n*d.Database, c.Trips + n*d.Trips,
	}
}

// per returns the cost of one of n, but nothing negative: a difference below the noise is none.
func (c cost) per(n float64) cost {
	least := func(v float64) float64 { return math.Max(0, v/n) }
	return cost{least(c.Kept), least(c.Passing), least(c.Written), least(c.Engine), least(c.Database), least(c.Trips)}
}

// readUnits reads a file of units. It refuses one with unknown or missing costs.
func readUnits(path string) (u units, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return u, err
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&u); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	if err := u.check(); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

// check returns an error for numbers that no measurement gives.
func (u units) check() error {
	if u.Commit == "" || u.Date == "" || u.Machine == "" {
		return errors.New("it does not say what was measured, when and where")
	}
	p := u.Postgres
	for _, must := range []float64{
		p.Run.Kept, p.Run.Written, p.Run.Engine, p.Run.Database, p.Run.Trips, p.Step.Written, p.Step.Trips, p.Item.Passing,
		p.Stream.Database, p.Stream.Trips, u.SQLite.Run.Kept, u.SQLite.Run.Engine, u.WatcherMemory, u.ColdWAL, u.NotifySend,
	} {
		if must <= 0 {
			return errors.New("a cost that cannot be zero is missing")
		}
	}
	return finite(reflect.ValueOf(u))
}

// finite returns an error if a number is negative or none.
func finite(v reflect.Value) error {
	if v.Kind() == reflect.Float64 && (v.Float() < 0 || math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		return fmt.Errorf("%v is no cost", v.Float())
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if err := finite(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", v.Type().Field(i).Tag.Get("json"), err)
		}
	}
	return nil
}
