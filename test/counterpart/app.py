"""The reference app: controllers of Django Ninja Extra, one for each subject of requests.json.

rest_test.go has the same controllers in Go. record.py sends the requests to this app.
"""

import datetime
import decimal
import enum
import uuid
from typing import Annotated, Dict, List, Optional, Union

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEBUG=False,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "ninja", "ninja_extra"],
    LOGGING_CONFIG=None,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware", f"{__name__}.nobody"],
    NINJA_EXTRA={"PAGINATION_CLASS": "ninja_extra.pagination.PageNumberPaginationExtra", "PAGINATION_PER_PAGE": 3},
    ROOT_URLCONF=__name__,
    SECRET_KEY="not a secret",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    USE_TZ=True,
)
django.setup()

from django.db import connection, models  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from ninja import Cookie, File, FilterLookup, FilterSchema, Form, Header, Query, Schema  # noqa: E402
from ninja.errors import HttpError  # noqa: E402
from ninja.files import UploadedFile  # noqa: E402
from ninja.security import APIKeyHeader, APIKeyQuery, HttpBasicAuth, HttpBearer  # noqa: E402
from ninja_extra import (  # noqa: E402
    ControllerBase,
    ModelConfig,
    ModelControllerBase,
    ModelPagination,
    NinjaExtraAPI,
    api_controller,
    exceptions,
    http_delete,
    http_generic,
    http_get,
    http_post,
    http_put,
    permissions,
)
from ninja_extra.ordering import ordering  # noqa: E402
from ninja_extra.pagination import PageNumberPaginationExtra, LimitOffsetPagination, paginate  # noqa: E402
from ninja_extra.schemas import NinjaPaginationResponseSchema, PaginatedResponseSchema  # noqa: E402
from ninja_extra.searching import searching  # noqa: E402
from ninja_extra.throttling import DynamicRateThrottle  # noqa: E402
from pydantic import AnyUrl, EmailStr, Field, IPvAnyAddress, field_validator  # noqa: E402


class Mode(str, enum.Enum):
    new = "new"
    used = "used"


def nobody(get_response):
    """Stands for the session middleware: throttles ask for a user."""
    from django.contrib.auth.models import AnonymousUser

    def middleware(request):
        request.user = AnonymousUser()
        return get_response(request)

    return middleware


# Paths.


@api_controller("/paths")
class Paths:
    @http_get("/int/{int:n}")
    def by_int(self, n: int):
        return {"n": n}

    @http_get("/str/{str:s}")
    def by_str(self, s: str):
        return {"s": s}

    @http_get("/slug/{slug:s}")
    def by_slug(self, s: str):
        return {"s": s}

    @http_get("/uuid/{uuid:u}")
    def by_uuid(self, u: uuid.UUID):
        return {"u": u}

    @http_get("/path/{path:p}")
    def by_path(self, p: str):
        return {"p": p}

    @http_get("/plain/{n}")
    def plain(self, n: int):
        return {"n": n}

    @http_get("/text/{s}")
    def text(self, s: Annotated[str, Field(min_length=2, max_length=5)]):
        return {"s": s}

    @http_get("/date/{d}")
    def date(self, d: datetime.date):
        return {"d": d}

    @http_get("/flag/{f}")
    def flag(self, f: bool):
        return {"f": f}

    @http_get("/bound/{n}")
    def bound(self, n: Annotated[int, Field(ge=1, le=9)]):
        return {"n": n}

    @http_get("/two/{int:a}/{slug:b}")
    def two(self, a: int, b: str):
        return {"a": a, "b": b}

    @http_get("/slash/")
    def slash(self):
        return "slash"

    @http_get("/bare")
    def bare(self):
        return "bare"

    @http_post("/create/")
    def create(self):
        return "made"


@api_controller("/orgs/{int:org}/books")
class Orgs:
    @http_get("")
    def all(self, org: int):
        return {"org": org}

    @http_get("/{int:book}")
    def one(self, org: int, book: int):
        return {"org": org, "book": book}


# Queries, headers and cookies.


@api_controller("/query")
class Queries:
    @http_get("/needed")
    def needed(self, n: int, s: str):
        return {"n": n, "s": s}

    @http_get("/types")
    def types(
        self,
        n: int = 1,
        f: float = 0.5,
        b: bool = False,
        s: str = "x",
        m: Mode = Mode.new,
        d: Optional[datetime.date] = None,
        t: Optional[datetime.datetime] = None,
        u: Optional[uuid.UUID] = None,
    ):
        return {"n": n, "f": f, "b": b, "s": s, "m": m, "d": d, "t": t, "u": u}

    @http_get("/bounds")
    def bounds(
        self,
        ge: int = Query(5, ge=1),
        le: int = Query(5, le=9),
        gt: float = Query(0.5, gt=0),
        lt: float = Query(0.5, lt=1),
        short: str = Query("abc", min_length=2, max_length=4),
        form: str = Query("abc", pattern="^[a-z]+$"),
    ):
        return {"ge": ge, "le": le, "gt": gt, "lt": lt, "short": short, "form": form}

    @http_get("/lists")
    def lists(self, ids: List[int] = Query([]), tags: List[str] = Query(["a"])):
        return {"ids": ids, "tags": tags}

    @http_get("/sized")
    def sized(self, ids: List[int] = Query(..., min_length=2, max_length=3)):
        return {"ids": ids}

    @http_get("/header")
    def header(self, trace: int = Header(..., alias="X-Trace"), lang: str = Header("en", alias="X-Lang")):
        return {"trace": trace, "lang": lang}

    @http_get("/cookie")
    def cookie(self, visits: int = Cookie(...), theme: str = Cookie("light")):
        return {"visits": visits, "theme": theme}

    @http_get("/all/{n}")
    def all(self, n: int, q: int, trace: int = Header(..., alias="X-Trace"), visits: int = Cookie(...)):
        return {"n": n, "q": q, "trace": trace, "visits": visits}


# Bodies.


class Item(Schema):
    title: str = Field(min_length=2, max_length=10)
    price: float = Field(ge=0, le=1000)
    stock: int = 1
    note: Optional[str] = None


class Owner(Schema):
    name: str = Field(min_length=1)
    age: Optional[int] = None


class Order(Schema):
    owner: Owner
    items: List[Item] = Field(min_length=1, max_length=2)
    tags: List[Annotated[str, Field(min_length=2)]] = []
    counts: Dict[str, int] = {}


class Kinds(Schema):
    flag: bool = False
    mode: Mode = Mode.new
    day: Optional[datetime.date] = None
    at: Optional[datetime.datetime] = None
    uid: Optional[uuid.UUID] = None
    url: Optional[AnyUrl] = None
    mail: Optional[EmailStr] = None
    ip: Optional[IPvAnyAddress] = None
    ratio: float = Field(0.5, gt=0, lt=1)
    even: int = Field(2, multiple_of=2)
    code: str = Field("ab", pattern="^[a-z]+$")


class Cat(Schema):
    kind: str = Field(pattern="^cat$")
    lives: int


class Dog(Schema):
    kind: str = Field(pattern="^dog$")
    name: str


class Span(Schema):
    first: int
    last: int

    @field_validator("last")
    @classmethod
    def ordered(cls, v, info):
        if "first" in info.data and v < info.data["first"]:
            raise ValueError("must not be before first")
        return v


@api_controller("/bodies")
class Bodies:
    @http_post("/item", response=Item)
    def item(self, item: Item):
        return item

    @http_post("/order", response=Order)
    def order(self, order: Order):
        return order

    @http_post("/kinds", response=Kinds)
    def kinds(self, kinds: Kinds):
        return kinds

    @http_post("/owners", response=List[Owner])
    def owners(self, owners: List[Owner]):
        return owners

    @http_post("/optional")
    def optional(self, owner: Optional[Owner] = None):
        return {"owner": owner.name if owner else None}

    @http_post("/two")
    def two(self, owner: Owner, item: Item):
        return {"owner": owner.name, "item": item.title}

    @http_put("/mixed/{int:n}")
    def mixed(self, n: int, owner: Owner, q: int = 0):
        return {"n": n, "q": q, "owner": owner.name}

    @http_post("/pet")
    def pet(self, pet: Union[Cat, Dog]):
        return {"kind": pet.kind}

    @http_post("/span")
    def span(self, span: Span):
        return {"first": span.first, "last": span.last}

    @http_generic("/generic", methods=["PUT", "PATCH"])
    def generic(self, owner: Owner):
        return {"name": owner.name}


# Forms and files.


class Contact(Schema):
    name: str = Field(min_length=2)
    age: int = 18


@api_controller("/forms")
class Forms:
    @http_post("/contact")
    def contact(self, contact: Contact = Form(...)):
        return {"name": contact.name, "age": contact.age}

    @http_post("/scalars")
    def scalars(self, n: int = Form(...), tags: List[str] = Form([])):
        return {"n": n, "tags": tags}

    @http_post("/file")
    def file(self, cover: UploadedFile = File(...)):
        return {"name": cover.name, "size": cover.size, "type": cover.content_type}

    @http_post("/files")
    def files(self, pages: List[UploadedFile] = File(...)):
        return {"sizes": [p.size for p in pages]}

    @http_post("/both")
    def both(self, name: str = Form(...), cover: UploadedFile = File(...)):
        return {"name": name, "size": cover.size}


# Lists.


class Planet(models.Model):
    name = models.CharField(max_length=20)
    moons = models.IntegerField()
    ring = models.BooleanField()

    class Meta:
        app_label = "auth"


class PlanetOut(Schema):
    id: int
    name: str
    moons: int
    ring: bool


class PlanetFilter(FilterSchema):
    name: Annotated[Optional[str], FilterLookup("__icontains")] = None
    least: Annotated[Optional[int], FilterLookup("moons__gte")] = None
    ring: Optional[bool] = None
    moons__lt: Optional[int] = None
    ids: Annotated[Optional[List[int]], FilterLookup("id__in")] = None


PLANETS = [
    ("Mercury", 0, False),
    ("Venus", 0, False),
    ("Earth", 1, False),
    ("Mars", 2, False),
    ("Jupiter", 95, True),
    ("Saturn", 146, True),
    ("Uranus", 28, True),
    ("Neptune", 16, True),
]


@api_controller("/lists")
class Lists:
    @http_get("/all", response=List[PlanetOut])
    def all(self):
        return Planet.objects.order_by("id")

    @http_get("/numbers", response=PaginatedResponseSchema[PlanetOut])
    @paginate(PageNumberPaginationExtra, page_size=3)
    def numbers(self):
        return Planet.objects.order_by("id")

    @http_get("/offsets", response=NinjaPaginationResponseSchema[PlanetOut])
    @paginate(LimitOffsetPagination)
    def offsets(self):
        return Planet.objects.order_by("id")

    @http_get("/default", response=PaginatedResponseSchema[PlanetOut])
    @paginate
    def default(self):
        return Planet.objects.order_by("id")

    @http_get("/filtered", response=PaginatedResponseSchema[PlanetOut])
    @paginate(PageNumberPaginationExtra, filter_schema=PlanetFilter, page_size=3)
    def filtered(self):
        return Planet.objects.order_by("id")

    @http_get("/ordered", response=List[PlanetOut])
    @ordering(ordering_fields=["name", "moons"])
    def ordered(self):
        return Planet.objects.order_by("id")

    @http_get("/searched", response=List[PlanetOut])
    @searching(search_fields=["name"])
    def searched(self):
        return Planet.objects.order_by("id")

    @http_get("/memory", response=NinjaPaginationResponseSchema[str])
    @paginate(LimitOffsetPagination)
    def memory(self):
        return ["a", "b", "c"]


# Who may do what.


class KeyQuery(APIKeyQuery):
    param_name = "key"

    def authenticate(self, request, key):
        return key if key in ("ann", "bob") else None


class KeyHeader(APIKeyHeader):
    param_name = "X-Key"

    def authenticate(self, request, key):
        return key if key in ("ann", "bob") else None


class Bearer(HttpBearer):
    def authenticate(self, request, token):
        return token if token in ("ann", "bob") else None


class Basic(HttpBasicAuth):
    def authenticate(self, request, username, password):
        return username if password == "secret" else None


class IsAnn(permissions.BasePermission):
    def has_permission(self, request, controller):
        return request.auth == "ann"


class IsBob(permissions.BasePermission):
    def has_permission(self, request, controller):
        return request.auth == "bob"


class Never(permissions.BasePermission):
    message = "Only on Sundays."

    def has_permission(self, request, controller):
        return False


class OwnsIt(permissions.BasePermission):
    def has_permission(self, request, controller):
        return True

    def has_object_permission(self, request, controller, obj):
        return (obj.id % 2 == 1) == (request.auth == "ann")


@api_controller("/auth")
class Auth:
    @http_get("/query", auth=KeyQuery())
    def query(self):
        return {"who": self.context.request.auth}

    @http_get("/header", auth=KeyHeader())
    def header(self):
        return {"who": self.context.request.auth}

    @http_get("/bearer", auth=Bearer())
    def bearer(self):
        return {"who": self.context.request.auth}

    @http_get("/basic", auth=Basic())
    def basic(self):
        return {"who": self.context.request.auth}

    @http_get("/either", auth=[KeyHeader(), Bearer()])
    def either(self):
        return {"who": self.context.request.auth}

    @http_get("/open")
    def open(self):
        return "open"


@api_controller("/guarded", auth=KeyQuery(), permissions=[IsAnn])
class Guarded(ControllerBase):
    @http_get("/inherited")
    def inherited(self):
        return "in"

    @http_get("/bob", permissions=[IsBob])
    def bob(self):
        return "in"

    @http_get("/and", permissions=[IsAnn & IsBob])
    def both(self):
        return "in"

    @http_get("/or", permissions=[IsAnn | IsBob])
    def either(self):
        return "in"

    @http_get("/not", permissions=[~IsAnn])
    def other(self):
        return "in"

    @http_get("/nested", permissions=[(IsAnn & ~IsBob) | IsBob])
    def nested(self):
        return "in"

    @http_get("/never", permissions=[Never])
    def never(self):
        return "in"

    @http_get("/all", permissions=[IsAnn, Never])
    def several(self):
        return "in"

    @http_get("/any", permissions=[permissions.AllowAny])
    def anybody(self):
        return "in"

    @http_get("/none", auth=None, permissions=[permissions.AllowAny])
    def nobody(self):
        return "in"

    @http_post("/input", permissions=[Never])
    def input(self, owner: Owner):
        return "in"

    @http_get("/planets/{int:id}", permissions=[OwnsIt], response=PlanetOut)
    def planet(self, id: int):
        return self.get_object_or_exception(Planet, id=id)


# Throttles.


@api_controller("/throttles")
class Throttles:
    @http_get("/one", throttle=DynamicRateThrottle(rate="1/min"))
    def one(self):
        return "in"

    @http_get("/two", throttle=DynamicRateThrottle(rate="2/hour"))
    def two(self):
        return "in"

    @http_get("/free")
    def free(self):
        return "in"


# Statuses, answers and errors.


class Message(Schema):
    message: str


@api_controller("/answers")
class Answers(ControllerBase):
    @http_post("/made", response={201: Message})
    def made(self):
        return 201, {"message": "made"}

    @http_delete("/gone", response={204: None})
    def gone(self):
        return 204, None

    @http_get("/chosen", response={200: Message, 404: Message})
    def chosen(self, found: bool = True):
        return (200, {"message": "here"}) if found else (404, {"message": "away"})

    @http_get("/undeclared", response={200: Message})
    def undeclared(self):
        return 202, {"message": "x"}

    @http_get("/headers")
    def headers(self, response: HttpResponse):
        response["X-By"] = "ann"
        response.set_cookie("theme", "dark")
        return "ok"

    @http_get("/null")
    def null(self):
        return None

    @http_get("/created")
    def created(self):
        return self.create_response({"a": 1}, status_code=201)

    @http_get("/text")
    def text(self):
        return "Grüße <b>"

    @http_get("/error/{name}")
    def error(self, name: str):
        raise {
            "api": exceptions.APIException(),
            "auth": exceptions.AuthenticationFailed(),
            "unknown": exceptions.NotAuthenticated(),
            "denied": exceptions.PermissionDenied(),
            "denied_why": exceptions.PermissionDenied("Not you."),
            "missing": exceptions.NotFound(),
            "missing_why": exceptions.NotFound("No such book."),
            "http": HttpError(418, "3 pots"),
            "conflict": HttpError(409, "Taken."),
            "throttled": exceptions.Throttled(wait=6),
            "plain": RuntimeError("secret"),
        }[name]


# A model controller.


class Book(models.Model):
    title = models.CharField(max_length=20)
    price = models.FloatField(default=1)
    isbn = models.CharField(max_length=10, unique=True)

    class Meta:
        app_label = "auth"
        ordering = ["id"]


class BookIn(Schema):
    title: str = Field(min_length=1, max_length=20)
    price: float = Field(1, ge=0)
    isbn: str


class BookOut(Schema):
    id: int
    title: str
    price: float
    isbn: str


class BookPatch(Schema):
    title: Optional[str] = Field(None, min_length=1, max_length=20)
    price: Optional[float] = Field(None, ge=0)
    isbn: Optional[str] = None


@api_controller("/books")
class Books(ModelControllerBase):
    model_config = ModelConfig(
        model=Book,
        create_schema=BookIn,
        update_schema=BookIn,
        patch_schema=BookPatch,
        retrieve_schema=BookOut,
        pagination=ModelPagination(
            klass=PageNumberPaginationExtra,
            paginator_kwargs={"page_size": 2},
            pagination_schema=PaginatedResponseSchema,
        ),
    )


api = NinjaExtraAPI(title="Counterpart")
api.register_controllers(Paths, Orgs, Queries, Bodies, Forms, Lists, Auth, Guarded, Throttles, Answers, Books)

urlpatterns = [path("", api.urls)]

with connection.schema_editor() as editor:
    editor.create_model(Planet)
    editor.create_model(Book)


def reset():
    """Makes the state that each request finds."""
    from django.core.cache import cache

    cache.clear()
    with connection.cursor() as cursor:
        for model in (Planet, Book):
            model.objects.all().delete()
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
    for name, moons, ring in PLANETS:
        Planet.objects.create(name=name, moons=moons, ring=ring)
    for i, title in enumerate(["Emma", "Persuasion", "Dracula"]):
        Book.objects.create(title=title, price=i + 1, isbn=f"isbn-{i + 1}")
