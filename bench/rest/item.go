package main

import (
	"fmt"
	"regexp"
	"time"
)

// item is what all implementations serve. Its fields are those of an ordinary resource, including a
// time and a float, because encoders are slow at these.
type item struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	SKU       string    `json:"sku"`
	Category  string    `json:"category"`
	Price     float64   `json:"price"`
	Quantity  int       `json:"quantity"`
	Tags      []string  `json:"tags"`
	Note      string    `json:"note,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// offer is an item of a shop. Every parameter of the request changes it, so an implementation that
// ignores a parameter is noticed.
type offer struct {
	Shop  string   `json:"shop"`
	Lang  string   `json:"lang"`
	ID    int64    `json:"id"`
	Title string   `json:"title"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
	Note  string   `json:"note,omitempty"`
	Buyer string   `json:"buyer,omitempty"`
}

// itemPage is a page of the catalog, with the number of all items.
type itemPage struct {
	Items []item `json:"items"`
	Count int    `json:"count"`
}

// draft is the body for a new item. Each implementation has its own struct with the same fields and its
// library's tags, and converts it.
type draft struct {
	Name     string   `json:"name"`
	SKU      string   `json:"sku"`
	Category string   `json:"category"`
	Price    float64  `json:"price"`
	Quantity int      `json:"quantity"`
	Tags     []string `json:"tags"`
	Note     string   `json:"note"`
}

// The rules for a draft. Struct tags repeat these numbers.
const (
	maxName     = 80
	maxPrice    = 100_000
	maxQuantity = 1000
	maxTags     = 8
	maxTag      = 20
	maxNote     = 200
	skuPattern  = `^[A-Z]{3}-[0-9]{4}$`
)

// categories are the allowed categories of an item.
var categories = []string{"office", "garden", "kitchen"}

var skuForm = regexp.MustCompile(skuPattern)

// The allowed parameters of a page and an offer.
const (
	defaultLimit = 50
	maxLimit     = 100
	defaultLang  = "en"
)

// catalogSize is the number of items. Their ids begin at 1.
const catalogSize = 1000

// epoch is the creation time of all items.
var epoch = time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)

// catalog is the data. It is only read, so that a request costs the same every time.
type catalog struct {
	items  []item
	titles map[string]string // the word before a title, by language
}

func newCatalog() *catalog {
	c := &catalog{titles: map[string]string{"en": "The ", "de": "Das ", "fr": "Le "}}
	for n := range int64(catalogSize) {
		c.items = append(c.items, item{
			ID:        n + 1,
			Name:      fmt.Sprintf("Walnut organiser %d", n+1),
			SKU:       fmt.Sprintf("WAL-%04d", n+1),
			Category:  categories[n%int64(len(categories))],
			Price:     float64(1990+n) / 100,
			Quantity:  int(n % maxQuantity),
			Tags:      []string{"wood", "handmade", "desk"},
			Note:      "Ships within a week",
			CreatedAt: epoch,
		})
	}
	return c
}

// item returns the item with an id.
func (c *catalog) item(id int64) (item, bool) {
	if id < 1 || id > int64(len(c.items)) {
		return item{}, false
	}
	return c.items[id-1], true
}

// page returns the items from offset on, at most limit.
func (c *catalog) page(limit, offset int) []item {
	from := min(offset, len(c.items))
	return c.items[from:min(from+limit, len(c.items))]
}

// offer returns an item as an offer of a shop.
func (c *catalog) offer(shop string, id int64, lang string, expand bool, tags int) (offer, bool) {
	it, ok := c.item(id)
	if !ok {
		return offer{}, false
	}
	o := offer{Shop: shop, Lang: lang, ID: it.ID, Title: c.titles[lang] + it.Name, Price: it.Price, Tags: it.Tags}
	o.Tags = o.Tags[:min(tags, len(o.Tags))]
	if expand {
		o.Note = it.Note
	}
	return o, true
}

// create returns the item of a draft. It stores nothing.
func (c *catalog) create(d draft) item {
	return item{
		ID: catalogSize + 1, Name: d.Name, SKU: d.SKU, Category: d.Category, Price: d.Price,
		Quantity: d.Quantity, Tags: d.Tags, Note: d.Note, CreatedAt: epoch,
	}
}
