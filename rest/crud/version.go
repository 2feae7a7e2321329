package crud

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query/driver"
)

// etag returns the ETag of a row, or "" if the model has none.
func (c *core[T, K]) etag(row *T) (string, error) {
	v := reflect.ValueOf(row).Elem()
	switch {
	case c.versions == NoVersions:
		return "", nil
	case c.versions == VersionHash:
		return c.model.hash(v)
	case c.model.version.Kind == driver.Time:
		return `"` + strconv.FormatInt(timeOf(v.FieldByIndex(c.model.version.Index)).UnixMicro(), 36) + `"`, nil
	default:
		return fmt.Sprintf(`"%d"`, v.FieldByIndex(c.model.version.Index).Interface()), nil
	}
}

// hash returns a hash of the shown columns of a row.
func (m *model) hash(row reflect.Value) (string, error) {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	for _, shown := range m.fields {
		f := shown.column
		if f == nil || shown.hidden {
			continue
		}
		value := row.FieldByIndex(f.Index).Interface()
		switch at := value.(type) {
		case time.Time:
			value = at.UTC().UnixMicro()
		case *time.Time:
			if at != nil {
				value = at.UTC().UnixMicro()
			}
		}
		if err := encoder.Encode(value); err != nil {
			return "", fmt.Errorf("version of %v: field %s: %w", m.typ, f.Go, err)
		}
	}
	return `"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15]) + `"`, nil
}

func timeOf(v reflect.Value) time.Time {
	at, _ := reflect.TypeAssert[time.Time](v.Convert(reflect.TypeFor[time.Time]()))
	return at
}

func (c *core[T, K]) firstVersion(row *T) {
	if c.model.version == nil {
		return
	}
	setVersion(reflect.ValueOf(row).Elem().FieldByIndex(c.model.version.Index), c.model.version.Kind, reflect.Value{})
}

func (c *core[T, K]) nextVersion(before, row reflect.Value) {
	if f := c.model.version; f != nil {
		setVersion(row.FieldByIndex(f.Index), f.Kind, before.FieldByIndex(f.Index))
	}
}

// setVersion sets the version that follows before, or the first one if before is invalid. A
// time has the precision of databases and is always later than before.
func setVersion(v reflect.Value, kind driver.Kind, before reflect.Value) {
	switch {
	case kind == driver.Time:
		now := time.Now().UTC().Truncate(time.Microsecond)
		if before.IsValid() {
			if last := timeOf(before); !now.After(last) {
				now = last.UTC().Add(time.Microsecond)
			}
		}
		v.Set(reflect.ValueOf(now).Convert(v.Type()))
	case v.CanUint():
		next := uint64(1)
		if before.IsValid() {
			next += before.Uint()
		}
		v.SetUint(next)
	default:
		next := int64(1)
		if before.IsValid() {
			next += before.Int()
		}
		v.SetInt(next)
	}
}

// wantsMatch returns an error if If-Match is required and missing.
func (c *core[T, K]) wantsMatch(ctx context.Context) error {
	r := rest.RequestOf(ctx)
	if !c.config.RequireMatch || r == nil || len(r.Header["If-Match"]) > 0 {
		return nil
	}
	return &rest.Error{
		Status: http.StatusPreconditionRequired,
		Detail: "Send the ETag of the " + c.name + " in If-Match.",
	}
}

// checkMatch returns an error if If-Match does not match the row that will be written.
func (c *core[T, K]) checkMatch(ctx context.Context, row T) error {
	r := rest.RequestOf(ctx)
	if r == nil {
		return nil
	}
	wanted := r.Header["If-Match"]
	if len(wanted) == 0 {
		return nil
	}
	tag, err := c.etag(&row)
	if err != nil {
		return err
	}
	for given := range tags(wanted) {
		if given == "*" || given == tag && tag != "" {
			return nil
		}
	}
	e := &rest.Error{
		Status: http.StatusPreconditionFailed,
		Detail: "The " + c.name + " has changed since: read it again.",
	}
	if tag != "" {
		e.Header = http.Header{"Etag": {tag}}
	}
	return e
}

// noneMatch reports whether If-None-Match contains the tag.
func noneMatch(r *http.Request, tag string) bool {
	for given := range tags(r.Header["If-None-Match"]) {
		if given == "*" || strings.TrimPrefix(given, "W/") == tag {
			return true
		}
	}
	return false
}

// tags splits lists of entity tags at commas. Our own tags have no commas.
func tags(values []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, value := range values {
			for given := range strings.SplitSeq(value, ",") {
				if !yield(strings.TrimSpace(given)) {
					return
				}
			}
		}
	}
}
