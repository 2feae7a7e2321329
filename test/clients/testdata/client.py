"""Uses the shop through the client that openapi-python-client makes."""

import sys

from shop.api.shop import get_book, list_books, put_book
from shop.client import Client
from shop.models import Audio, BookInput, ListBooksOrderingItem

client = Client(base_url=sys.argv[1])
page = list_books.sync(client=client, ordering=[ListBooksOrderingItem.VALUE_1, ListBooksOrderingItem.ID])
book = page.results[0]
print(book.title, book.released.isoformat(), str(book.tags == []).lower())

change = BookInput(title="Emma", released=book.released, form=Audio(kind="audio", minutes=90))
version = get_book.sync_detailed(book.id, client=client).headers["ETag"]
for match in ('"old"', version):
    put = put_book.sync_detailed(book.id, client=client, body=change, if_match=match)
    print(int(put.status_code))
    if put.status_code == 200:
        print(type(put.parsed.form).__name__, put.parsed.form.minutes, put.parsed.copies)
