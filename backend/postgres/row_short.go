package postgres

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool/backend/internal/form"
)

// The methods by which jobs are read.

func (r *row) text() string          { return r.Text() }
func (r *row) int() int              { return r.Int() }
func (r *row) int64() int64          { return r.Int64() }
func (r *row) bool() bool            { return r.Bool() }
func (r *row) time() time.Time       { return r.Time() }
func (r *row) json() json.RawMessage { return r.JSON() }

func roundedUp(t time.Time) time.Time { return form.RoundedUp(t) }
