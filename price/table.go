package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Table is a list of prices. As JSON it is
//
//	{
//	  "version": "2026-11", "currency": "USD", "asOf": "2026-11-01",
//	  "models": {
//	    "small": {"input": 0.15, "cacheRead": 0.075, "output": 0.6},
//	    "large": {
//	      "input": 5, "output": 30, "long": {"above": 272000, "input": 10, "output": 45},
//	      "tiers": {"flex": {"input": 2.5, "output": 15}}
//	    }
//	  }
//	}
//
// with the rates in the currency per million tokens.
type Table struct {
	// Version names the table in each row of the ledger that it has priced. Required.
	Version string
	// Currency is the code of the currency: three capital letters. Required.
	Currency string
	// AsOf is the day of the prices, as 2006-01-02. Empty: unknown.
	AsOf string
	// Models has the rates by the name of a model: the configured name, or the provider's. A provider's name
	// may be without its date, and without what clouds and routers add.
	Models map[string]Rates
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// Check returns an [spool.Invalid] error that names the first invalid field of a table.
func (t Table) Check() error {
	switch {
	case t.Version == "" || len(t.Version) > 64:
		return spool.Errorf(spool.Invalid, "version is required, in up to 64 bytes")
	case !currency.MatchString(t.Currency):
		return spool.Errorf(spool.Invalid, "currency must be a code such as USD")
	case len(t.Models) == 0:
		return spool.Errorf(spool.Invalid, "models has no model")
	}
	if t.AsOf != "" {
		if _, err := time.Parse(time.DateOnly, t.AsOf); err != nil {
			return spool.Errorf(spool.Invalid, "asOf must be a day such as 2026-11-01")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Models)) {
		if t.Models[name].negative() {
			return spool.Errorf(spool.Invalid, "models.%s has a negative rate", name)
		}
	}
	return nil
}

// Parse reads a table from JSON. It returns an [spool.Invalid] error for anything but a complete and correct
// table.
func Parse(text []byte) (Table, error) {
	var wire struct {
		Version  string                     `json:"version"`
		Currency string                     `json:"currency"`
		AsOf     string                     `json:"asOf"`
		Models   map[string]json.RawMessage `json:"models"`
	}
	if err := strict(text, &wire); err != nil {
		return Table{}, &spool.Error{Code: spool.Invalid, Message: "read the price table: " + err.Error()}
	}
	t := Table{
		Version: wire.Version, Currency: wire.Currency, AsOf: wire.AsOf, Models: make(map[string]Rates, len(wire.Models)),
	}
	for _, name := range slices.Sorted(maps.Keys(wire.Models)) {
		var r Rates
		if err := json.Unmarshal(wire.Models[name], &r); err != nil {
			return Table{}, spool.Errorf(spool.Invalid, "models.%s: %s", name, err)
		}
		t.Models[name] = r
	}
	return t, t.Check()
}

// Load reads a table from a file.
func Load(file string) (Table, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Table{}, &spool.Error{Code: spool.Invalid, Message: "the price table cannot be read", Err: err}
	}
	t, err := Parse(text)
	if err != nil {
		return Table{}, &spool.Error{Code: spool.Invalid, Message: file + ": " + spool.MessageOf(err)}
	}
	return t, nil
}

//go:embed builtin.json
var builtin []byte

// Builtin returns a table with the list prices of well-known models, as of its AsOf. It makes no requests. If you pay
// other prices, use your own table.
func Builtin() Table {
	t, err := Parse(builtin)
	if err != nil {
		panic("price: the built-in table: " + err.Error())
	}
	return t
}

// strict reads one JSON value without unknown fields.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the table")
	}
	return nil
}
