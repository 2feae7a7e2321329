// Command go uses the shop through the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spoolhq/spool/test/clients/testdata/generated/shop"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	client, err := shop.NewClientWithResponses(address)
	if err != nil {
		return err
	}
	list, err := client.ListBooksWithResponse(ctx, &shop.ListBooksParams{
		Ordering: &[]shop.ListBooksParamsOrdering{shop.MinusTitle, shop.Id},
	})
	if err != nil || list.JSON200 == nil {
		return fmt.Errorf("list: %v %s", err, list.Body)
	}
	book := list.JSON200.Results[0]
	fmt.Println(book.Title, book.Released.Format("2006-01-02"), book.Tags != nil && len(book.Tags) == 0)

	form := shop.Form{}
	if err := form.FromAudio(shop.Audio{Minutes: 90}); err != nil {
		return err
	}
	change := shop.BookInput{Title: "Emma", Released: book.Released, Form: form}
	got, err := client.GetBookWithResponse(ctx, *book.Id)
	if err != nil {
		return err
	}
	for _, version := range []string{`"old"`, got.HTTPResponse.Header.Get("ETag")} {
		put, err := client.PutBookWithResponse(ctx, *book.Id, &shop.PutBookParams{IfMatch: version}, change)
		if err != nil {
			return err
		}
		fmt.Println(put.StatusCode())
		if put.JSON200 != nil {
			kind, err := put.JSON200.Form.ValueByDiscriminator()
			fmt.Printf("%T %v %d\n", kind, err, put.JSON200.Copies)
		}
	}
	return nil
}
