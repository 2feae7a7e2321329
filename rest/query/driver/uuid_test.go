package driver_test

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// uuid is what the usual libraries have.
type uuid [16]byte

func (u uuid) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(u[:])), nil }

func (u *uuid) UnmarshalText(text []byte) error {
	_, err := hex.Decode(u[:], text)
	return err
}

type parcel struct {
	ID   uuid
	Name string
}

func TestUUIDsAreOrderedByTheirBytes(t *testing.T) {
	t.Parallel()

	set := query.Slice([]parcel{{uuid{2}, "b"}, {uuid{1, 9}, "b"}, {uuid{200}, "a"}, {uuid{1}, "b"}})
	stable := set.List().OrderBy(driver.ParseSort("name")).Stable()
	items, _, err := stable.Fetch(context.Background(), 0, -1)
	want := []parcel{{uuid{200}, "a"}, {uuid{1}, "b"}, {uuid{1, 9}, "b"}, {uuid{2}, "b"}}
	if err != nil || !cmp.Equal(items, any(want)) {
		t.Fatalf("got %v, %v", items, err)
	}

	position, err := stable.Position(items, 1)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := stable.After(position)
	if err != nil {
		t.Fatal(err)
	}
	items, _, err = rest.Fetch(context.Background(), 0, -1)
	if err != nil || !cmp.Equal(items, any(want[2:])) {
		t.Errorf("after the second: got %v, %v", items, err)
	}

	n, err := set.Where(query.Where("id__gte", uuid{1, 9})).Count(context.Background())
	if err != nil || n != 3 {
		t.Errorf("gte: got %d, %v", n, err)
	}
}

func TestAListThatIsBrokenStaysSo(t *testing.T) {
	t.Parallel()

	_, err := driver.Slice([]parcel{}).OrderBy(driver.ParseSort("nope")).Stable().Count(context.Background())
	if err == nil {
		t.Error("an order by nothing is no error")
	}
}
