package main

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
)

type orderPage = page.CursorResponseSchema[OrderView]

func lines(pairs ...int64) NewOrder {
	var order NewOrder
	for i := 0; i < len(pairs); i += 2 {
		order.Lines = append(order.Lines, NewLine{pairs[i], pairs[i+1]})
	}
	return order
}

func (v visitor) stock(book string) int64 {
	v.t.Helper()
	return decode[Book](v.get("/books/" + book).expect(http.StatusOK)).Stock
}

func TestOrderIsPlaced(t *testing.T) {
	t.Parallel()

	v := open(t)
	ada := v.login(demoCustomer)
	placed := ada.post("/orders", map[string]any{"lines": []any{
		map[string]any{"bookId": 1, "quantity": 2}, map[string]any{"bookId": 2}, // one is the default
	}}).expect(http.StatusCreated)
	order := decode[OrderView](placed)
	want := OrderView{
		ID: order.ID, UserID: demoCustomer, Placed: morning, Total: 2*999 + 1099, Self: "/orders/" + order.ID,
		Lines: []LineView{{1, 2, 999, "/books/1"}, {2, 1, 1099, "/books/2"}},
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if at := placed.header.Get("Location"); at != want.Self {
		t.Errorf("Location %q, want %q", at, want.Self)
	}
	if diff := cmp.Diff(want, decode[OrderView](ada.get(want.Self).expect(http.StatusOK))); diff != "" {
		t.Error(diff)
	}
	if n := v.stock("1"); n != 10 {
		t.Errorf("%d books are left, want 10", n)
	}
}

// TestOrderIsAllOrNothing has one line that can be had and two that cannot.
func TestOrderIsAllOrNothing(t *testing.T) {
	t.Parallel()

	v := open(t)
	ada := v.login(demoCustomer)
	got := decode[OutOfStock](ada.post("/orders", lines(1, 2, 2, 4, 99, 1)).expect(http.StatusConflict))
	want := OutOfStock{"out_of_stock", []Shortage{{2, 4, 3}, {99, 1, 0}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := v.stock("1"); n != 12 {
		t.Errorf("%d books are left, want 12", n)
	}
	if got := decode[orderPage](ada.get("/orders").expect(http.StatusOK)); len(got.Results) != 0 {
		t.Errorf("orders %v", got.Results)
	}
}

func TestOrderIsChecked(t *testing.T) {
	t.Parallel()

	v := open(t).login(demoCustomer)
	for _, c := range []struct {
		name  string
		order any
		where string
		kind  string
	}{
		{"Empty", lines(), "body.lines", "list_type"},
		{"None", map[string]any{"lines": []any{}}, "body.lines", "too_short"},
		{"Quantity", lines(1, 100), "body.lines[0].quantity", "less_than_equal"},
		{"Twice", lines(1, 1, 2, 1, 1, 1), "body.lines[2].bookId", "duplicate_book"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := decode[rest.Problem](v.post("/orders", c.order).expect(http.StatusUnprocessableEntity))
			if len(got.Errors) != 1 || got.Errors[0].Location != c.where || got.Errors[0].Kind != c.kind {
				t.Errorf("errors %+v", got.Errors)
			}
		})
	}
}

// TestOrdersOfOthers shows what a list scope and an owner hide: others see nothing, an
// administrator everything, and a partner is not let in.
func TestOrdersOfOthers(t *testing.T) {
	t.Parallel()

	v := open(t)
	ada, bob, admin := v.login(demoCustomer), v.login(otherCustomer), v.login(demoAdmin)
	order := decode[OrderView](ada.post("/orders", lines(4, 1)).expect(http.StatusCreated))
	for _, c := range []struct {
		who  visitor
		sees int
	}{{ada, 1}, {bob, 0}, {admin, 1}} {
		if got := decode[orderPage](c.who.get("/orders").expect(http.StatusOK)); len(got.Results) != c.sees {
			t.Errorf("orders %v, want %d", got.Results, c.sees)
		}
	}
	bob.get(order.Self).code(http.StatusForbidden, "permission_denied")
	bob.post(order.Self+"/cancel", nil).code(http.StatusForbidden, "permission_denied")
	v.get(order.Self).expect(http.StatusUnauthorized)
	ada.get("/orders/7e17cfa7-e4c1-42cc-876c-2cd0a09a44ee").code(http.StatusNotFound, "not_found")
	ada.get("/orders/17").expect(http.StatusNotFound) // no UUID, so no path of an order
	admin.get(order.Self).expect(http.StatusOK)

	partner := decode[rest.Problem](v.partner(demoKey).get("/orders").expect(http.StatusForbidden))
	if partner.Detail != "Partners do not order here." {
		t.Errorf("detail %q", partner.Detail)
	}
}

func TestOrderIsCanceledOnce(t *testing.T) {
	t.Parallel()

	v := open(t)
	ada := v.login(demoCustomer)
	order := decode[OrderView](ada.post("/orders", lines(4, 3)).expect(http.StatusCreated))
	if n := v.stock("4"); n != 5 {
		t.Errorf("%d books are left, want 5", n)
	}
	if got := decode[OrderView](ada.post(order.Self+"/cancel", nil).expect(http.StatusOK)); !got.Canceled {
		t.Errorf("order %+v", got)
	}
	ada.post(order.Self+"/cancel", nil).code(http.StatusConflict, "conflict")
	if n := v.stock("4"); n != 8 {
		t.Errorf("%d books are left, want 8", n)
	}
}

// TestNoCopyIsSoldTwice has thirty customers want a book of which there are twenty.
func TestNoCopyIsSoldTwice(t *testing.T) {
	t.Parallel()

	for name, file := range map[string]string{"Memory": "", "File": t.TempDir() + "/shop.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ada := open(t, func(c *config) { c.File = file }).login(demoCustomer)
			var sold, refused atomic.Int32
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() {
					switch got := ada.post("/orders", lines(12, 1)); got.status {
					case http.StatusCreated:
						sold.Add(1)
					case http.StatusConflict:
						refused.Add(1)
					default:
						t.Errorf("status %d: %s", got.status, got.body)
					}
				})
			}
			all.Wait()
			if sold.Load() != 20 || refused.Load() != 10 || ada.stock("12") != 0 {
				t.Errorf("%d sold, %d refused", sold.Load(), refused.Load())
			}
		})
	}
}

// TestOrdersByCursor follows a list to its end while orders come in.
func TestOrdersByCursor(t *testing.T) {
	t.Parallel()

	ada := open(t).login(demoCustomer)
	var want []string // the latest first
	for range 5 {
		order := decode[OrderView](ada.post("/orders", lines(12, 1)).expect(http.StatusCreated))
		want = append([]string{order.ID}, want...)
	}
	var got []string
	for next := "/orders?page_size=2"; next != ""; {
		a := ada.get(next).expect(http.StatusOK)
		p := decode[orderPage](a)
		for _, o := range p.Results {
			got = append(got, o.ID)
		}
		if next = ""; p.Next != nil {
			next = *p.Next
			if a.header.Get("Link") == "" {
				t.Error("there is a next page and no Link header")
			}
			ada.post("/orders", lines(12, 1)).expect(http.StatusCreated)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	late := decode[orderPage](ada.get("/orders?page_size=50&since=2026-03-02T09:00:05Z").expect(http.StatusOK))
	if len(late.Results) != 2 {
		t.Errorf("%d orders since then, want 2", len(late.Results))
	}
	ada.get("/orders?colour=red").expect(http.StatusUnprocessableEntity) // other lists take what they do not know
	ada.get("/orders?cursor=mine").expect(http.StatusUnprocessableEntity)
}

// TestStaffPayLess shows the price list, a service of each request.
func TestStaffPayLess(t *testing.T) {
	t.Parallel()

	got := decode[OrderView](open(t).login(demoAdmin).post("/orders", lines(1, 1)).expect(http.StatusCreated))
	if got.Total != 799 {
		t.Errorf("total %d, want 799", got.Total)
	}
}
