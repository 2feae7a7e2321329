package crud_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
)

// Stay is a model with times that are sent as dates.
type Stay struct {
	ID     int64         `json:"id"`
	Day    time.Time     `format:"date"     json:"day"`
	Until  *time.Time    `format:"date"     json:"until"`
	Long   time.Duration `format:"duration" json:"long"           required:"false"`
	Nights int           `json:"nights"     required:"false"`
	Secret string        `crud:"writeonly"  json:"secret"         required:"false"`
	Tags   []string      `json:"tags"       required:"false"`
	Text   string        `format:"date"     json:"text,omitempty"`
}

type Stays struct{ crud.Controller[Stay, int64] }

type stayFilter struct {
	Day   *time.Time
	Until *time.Time `filter:"until__gte"`
}

// A column of dates takes, gives, filters and orders dates.
func TestDates(t *testing.T) {
	t.Parallel()

	c := serveController(t, &Stays{crud.New(crud.Memory[Stay, int64](crud.MemoryConfig{}), crud.Config[Stay]{
		Path:       "/stays",
		Pagination: crud.Pagination{FilterSchema: query.Filter[stayFilter](), Ordering: []string{"day"}},
	})})
	c.do("POST /stays", `{"day":"2026-11-22","until":"2026-11-24","long":"PT1H","nights":2.0}`).
		status(201).has(`"day":"2026-11-22","until":"2026-11-24","long":"PT1H","nights":2,"tags":[]`)
	c.do("POST /stays", `{"day":"2026-11-21","until":null}`).status(201).has(`"until":null,"long":"PT0S"`)
	c.do("GET /stays/1", "").status(200).has(`"day":"2026-11-22"`)
	c.do("PATCH /stays/1", `{"until":"2026-11-25"}`).status(200).has(`"until":"2026-11-25"`)
	c.do("PUT /stays/2", `{"day":"2026-11-20","until":"2026-11-21"}`).status(200).has(`"day":"2026-11-20"`)
	c.do("GET /stays?ordering=day", "").status(200).has(`"day":"2026-11-20"`)
	c.do("GET /stays?day=2026-11-22", "").status(200).has(`"count":1`)
	c.do("GET /stays?until=2026-11-22", "").status(200).has(`"count":1`)
	c.do("GET /stays?day=2026-11-22T00:00:00Z", "").status(200).has(`"count":1`)
	c.do("GET /stays?day=2026-11-22T00:00:01Z", "").status(422).has(`query.day`)
	c.do("POST /stays", `{"day":"22.11.2026","until":null}`).status(422).has(`body.day`)
	c.do("POST /stays", `{"day":"2026-11-22T01:00:00Z","until":null}`).status(422).has(`date_parsing`)
	c.do("POST /stays", `{"day":"2026-11-22T00:00:00.000+05:30","until":"2026-11-23T00:00:00-08:00"}`).
		status(201).has(`"day":"2026-11-22","until":"2026-11-23"`)
	c.do("PATCH /stays/1", `{"text":"2026-11-22"}`).status(200)
	c.do("PATCH /stays/1", `{"text":"2026-11-22T00:00:00Z"}`).status(422).has(`body.text`)
}
