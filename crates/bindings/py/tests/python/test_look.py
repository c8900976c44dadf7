"""Arrays of every type, layout and range, compared with NumPy."""

import numpy as np
import pytest

import pixelferry
from conftest import reference, sample, shown
from test_protocols import Producer

INTEGERS = ["i1", "i2", "i4", "i8", "u4", "u8"]


def shades(part):
    """Bytes of numbers of which 0 is black and 1 white."""
    return (np.clip(np.nan_to_num(part, nan=0.0), 0, 1) * 255 + 0.5).astype("u1")


def over(values, low, high):
    return (values.astype("f8") - low) / (high - low)


def compare(viewer, array, expected, **look):
    """Shows it; `expected` are grey or coloured bytes."""
    viewer.show(array, **look)
    expected, found = reference(expected), shown(viewer)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    worst = np.abs(found.astype("i4") - expected.astype("i4")).max()
    assert worst <= 1, f"{worst} off"


def rough(shape, dtype):
    """Numbers over much of the type's range."""
    random = np.random.default_rng(3)
    if np.dtype(dtype).kind in "iu":
        ends = np.iinfo(dtype)
        return random.integers(ends.min // 2, ends.max // 2, shape, dtype=dtype)
    return (random.random(shape) * 1.2 - 0.1).astype(dtype)


@pytest.mark.parametrize("dtype", ["?", "f8", "f4", "f2", "u1", "u2"])
def test_types_that_have_a_range(viewer, dtype):
    array = sample((40, 30, 3), "u1") > 99 if dtype == "?" else sample((40, 30, 3), dtype)
    white = np.iinfo(dtype).max if dtype[0] == "u" else 1
    for view in (array, array[::-1, ::2], array[:, :, 1], array.transpose(1, 0, 2), array[:, :, ::-1]):
        compare(viewer, view, shades(view.astype("f8") / white))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_shown_from_minimum_to_maximum(viewer, dtype):
    array = rough((40, 300), dtype)
    for view in (array, array[::-1, ::3], array.T, np.broadcast_to(array[:1], (9, 300))):
        compare(viewer, view, shades(over(view, float(view.min()), float(view.max()))))
    # Of four channels the last is not one of the colours.
    four = rough((9, 8, 4), dtype)
    three = four[:, :, :3]
    compare(viewer, four, shades(over(three, float(three.min()), float(three.max()))))
    compare(viewer, np.full((3, 4), 7, dtype), np.zeros((3, 4), "u1"))


def test_labels(viewer):
    labels = (np.arange(12)[:, None] // 3 + np.arange(20) // 5 * 4).astype("i8")
    compare(viewer, labels, shades(over(labels, 0, labels.max())))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers(viewer, dtype):
    array = np.fft.fft2(sample((16, 33), "f4")).astype(dtype)
    size = np.abs(array)
    compare(viewer, array, shades(over(size, size.min(), size.max())))
    compare(viewer, array[::-2].T, shades(over(size, size[::-2].min(), size[::-2].max()))[::-2].T)
    compare(viewer, array, shades(over(np.angle(array), -np.pi, np.pi)), channel="phase")
    compare(viewer, array, shades(over(array.real, -1, 1)), channel="real", range=(-1, 1))
    compare(viewer, array, shades(over(array.imag, -1, 1)), channel="imaginary", range=(-1, 1))
    with pytest.raises(pixelferry.ShapeError, match="float32 numbers have no real or imaginary part"):
        viewer.show(array.real.astype("f4"), channel="phase")


def bfloat16(array):
    """The upper half of each number of 32 bits."""
    return (array.astype("f4").view("u4") >> 16).astype("u2")


def test_bfloat16_by_dlpack(viewer):
    batch = sample((6, 3, 8, 10), "f4")
    producer = Producer(bfloat16(batch), code=4, bits=16)
    exact = (bfloat16(batch).astype("u4") << 16).view("f4")
    tiles = exact.transpose(0, 2, 3, 1).reshape(2, 3, 8, 10, 3).transpose(0, 2, 1, 3, 4).reshape(16, 30, 3)
    compare(viewer, producer, shades(tiles))
    producer.check_given_back()


@pytest.mark.parametrize("code,one", [(7, 0x30), (8, 0x38), (9, 0x58), (10, 0x38), (11, 0x40), (12, 0x3c), (13, 0x40), (14, 0x7f)])
def test_float8_by_dlpack(viewer, code, one):
    array = np.full((5, 7), one, "u1")
    # 0, or where there is none, next to nothing.
    array[1] = 0
    expected = np.where(array == one, 255, 0)
    compare(viewer, Producer(array, code=code), expected.astype("u1"))


class Named:
    """As NumPy's arrays of ml_dtypes' types are: no protocol has a word for them."""

    def __init__(self, array, name):
        self.array, self.dtype = array, type("dtype", (), {"name": name})

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        raise BufferError("DLPack only supports signed/unsigned integers, float and complex dtypes.")

    def view(self, dtype):
        assert dtype == f"uint{8 * self.array.itemsize}"
        return self.array


def test_types_that_only_a_name_tells(viewer):
    array = sample((20, 30), "f4")
    compare(viewer, Named(bfloat16(array), "bfloat16"), shades(array - array % np.float32(2**-9)))
    compare(viewer, Named(np.full((3, 4), 0x38, "u1"), "float8_e4m3fn"), np.full((3, 4), 255, "u1"))
    with pytest.raises(pixelferry.DtypeError, match="only supports"):
        viewer.show(Named(array, "float6_e2m3fn"))


@pytest.mark.parametrize("shape,layout", [
    ((9, 12), "HW"), ((9, 12, 1), "HWC"), ((9, 12, 2), "HWC"), ((9, 12, 3), "HWC"), ((9, 12, 4), "HWC"), ((1, 9, 12), "CHW"),
    ((3, 9, 12), "CHW"), ((4, 9, 12), "CHW"), ((2, 9, 12), "NHW"), ((7, 9, 12), "NHW"), ((5, 9, 12, 3), "NHWC"), ((5, 9, 12, 1), "NHWC"),
    ((5, 3, 9, 12), "NCHW"), ((1, 4, 9, 12), "NCHW"), ((9, 12, 3), "WHC"), ((3, 5, 9, 12), "CNHW")], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "f8"])
def test_layouts(viewer, shape, layout, dtype):
    array = sample(shape, dtype)
    axes = [letter for letter in "NHWC" if letter in layout]
    pictures = array.transpose([layout.index(axis) for axis in axes])
    pictures = pictures if "N" in axes else pictures[None]
    pictures = pictures if "C" in axes else pictures[..., None]
    count, height, width, channels = pictures.shape
    columns = int(np.ceil(np.sqrt(count)))
    expected = np.zeros((-(-count // columns) * height, columns * width, max(channels, 3)), "u1")
    for n, picture in enumerate(pictures):
        y, x = n // columns * height, n % columns * width
        picture = picture if dtype == "u1" else shades(picture)
        # Two channels are red and green.
        expected[y:y + height, x:x + width, :channels if channels > 1 else 3] = picture
    # Where there is no picture all is black, and opaque.
    if channels == 4:
        for n in range(count, expected.shape[0] // height * columns):
            expected[n // columns * height:, n % columns * width:n % columns * width + width, 3] = 255
    compare(viewer, array, expected, layout=layout)
    if layout not in ("WHC", "CNHW"):
        compare(viewer, array, expected)
        assert f"as {layout}," in viewer.explain() and 'layout="NCHW"' in viewer.explain()


@pytest.mark.parametrize("shape,line", [
    ((), r"x\[None, None\]"), ((7,), r"x\[None, :\]"), ((5, 2, 9, 12), r"x\[0\]"), ((1, 2, 3, 4, 5), r"x\.reshape\(-1, height")], ids=str)
def test_what_is_no_picture_says_what_to_write(viewer, shape, line):
    with pytest.raises(pixelferry.ShapeError, match=line):
        viewer.show(np.zeros(shape, "f8"))


def test_ranges(viewer):
    array = np.random.default_rng(1).normal(3, 20, (100, 120))
    array[0, 0], array[0, 1] = np.nan, np.inf
    finite = array[np.isfinite(array)]
    most = np.abs(finite).max()

    def marked(values, low, high):
        bytes_ = np.repeat(shades(over(values, low, high))[:, :, None], 3, 2)
        bytes_[0, 0], bytes_[0, 1] = (255, 0, 255), (255, 255, 0)
        return bytes_

    for look, (low, high) in [("minmax", (finite.min(), finite.max())), ("symmetric", (-most, most)), ((-7, 30.5), (-7, 30.5)),
                              ((40, -10), (40, -10)), (("1%", "99%"), np.percentile(finite, [1, 99])),
                              ((0, "90%"), (0, np.percentile(finite, 90))), (("0%", "100%"), (finite.min(), finite.max()))]:
        compare(viewer, array, marked(array, low, high), range=look)
        compare(viewer, array.astype("f4")[::-1], marked(array, low, high)[::-1], range=look)
    assert "(measured)" in viewer.explain() and "float32 as HW" in viewer.explain()
    compare(viewer, np.full((3, 4), np.nan), np.full((3, 4, 3), (255, 0, 255), "u1"), range="minmax")
    compare(viewer, np.full((3, 4), -np.inf), np.full((3, 4, 3), (0, 255, 255), "u1"), range="minmax")


def test_exposure_gamma_and_marks(viewer):
    array = np.linspace(-0.5, 1.5, 4000).reshape(40, 100)
    compare(viewer, array, shades(array / 4), exposure=-2)
    compare(viewer, array, shades(np.clip(array, 0, None) ** (1 / 2.2)), gamma=2.2)
    compare(viewer, array.astype("f4"), shades(np.clip(array * 2, 0, None) ** (1 / 2.2)), gamma=2.2, exposure=1)
    bytes_ = np.repeat(shades(array)[:, :, None], 3, 2)
    bytes_[array > 1], bytes_[array < 0] = (255, 0, 0), (0, 0, 255)
    compare(viewer, array, bytes_, marks=True)
    # The ends themselves are in range.
    array[array > 1], array[array < 0] = 1, 0
    compare(viewer, array, shades(array), marks=True)
    compare(viewer, array * 0.3 + 7, shades(array), marks=True, range="minmax")


def test_colormaps(viewer):
    array = np.arange(256, dtype="f8").reshape(16, 16)
    seen = {}
    for name in ["grey", "viridis", "magma", "turbo", "rdbu"]:
        viewer.show(array, colormap=name, range=(0, 256))
        seen[name] = shown(viewer)[:, :, :3].reshape(256, 3).astype("i4")
    # As they were published.
    for name, level, colour in [("viridis", 0, (68, 1, 84)), ("viridis", 255, (253, 231, 37)), ("viridis", 128, (33, 145, 140)),
                                ("magma", 0, (0, 0, 4)), ("magma", 255, (252, 253, 191)), ("magma", 128, (183, 55, 121)),
                                ("rdbu", 0, (103, 0, 31)), ("rdbu", 255, (5, 48, 97)), ("grey", 128, (128, 128, 128))]:
        assert np.abs(seen[name][level] - colour).max() <= 1, (name, level, seen[name][level])
    assert all(len(np.unique(colours, axis=0)) > 200 for colours in seen.values())
    # 0 is the middle of what has two sides.
    viewer.show(np.array([[-3.0, 0.0, 1.0]]), colormap="rdbu", range="symmetric")
    assert shown(viewer)[0, 1, :3].min() > 235 and shown(viewer)[0, 0, 2] < 50
    # Every type by the same colours.
    levels = seen["viridis"][np.arange(256)]
    for dtype in ["u1", "i2", "u4", "i8", "f4"]:
        compare(viewer, array.astype(dtype), levels.reshape(16, 16, 3).astype("u1"), colormap="viridis", range=(0, 256))
    with pytest.raises(pixelferry.ShapeError, match="channel=0"):
        viewer.show(np.zeros((4, 5, 3)), colormap="viridis")


def test_channels(viewer):
    array = sample((20, 30, 3), "f8")
    for channel in range(3):
        compare(viewer, array, shades(array[:, :, channel]), channel=channel)
        compare(viewer, array.transpose(2, 0, 1), shades(array[:, :, channel]), channel=channel, layout="CHW")
    with pytest.raises(pixelferry.ShapeError, match="no channel=3"):
        viewer.show(array, channel=3)


@pytest.mark.parametrize("look", [
    {"range": "auto"}, {"range": (1, 1)}, {"range": (1,)}, {"range": (1, 2, 3)}, {"range": ("1", "2")}, {"range": ("-1%", "9%")},
    {"range": (0, float("nan"))}, {"range": 3}, {"gamma": 0}, {"gamma": float("nan")}, {"exposure": float("inf")},
    {"colormap": "jet"}, {"channel": "alpha"}, {"channel": -1}, {"layout": "HWHC"}], ids=str)
def test_options_that_mean_nothing(viewer, look):
    with pytest.raises(pixelferry.ShapeError, match=next(iter(look))):
        viewer.show(np.zeros((4, 5, 4)), **look)


def test_formats_of_floats_hold_the_numbers():
    array = np.linspace(-2, 3, 600).reshape(20, 30)
    with pixelferry.Viewer(8, 8, headless=True, display="memory", format="r32f") as viewer:
        for look, expected in [({}, array), ({"range": (-2, 2)}, over(array, -2, 2)), ({"exposure": 1}, array * 2)]:
            viewer.show(array, **look)
            assert np.allclose(np.asarray(viewer.capture()), expected.astype("f4"), rtol=1e-6, atol=1e-6)
        with pytest.raises(pixelferry.ShapeError, match="colour format"):
            viewer.show(array, colormap="magma")


def test_other_backends_show_the_same():
    array = rough((30, 40), "f8")
    for backend in ["cpu", "gl", "opencl"]:
        try:
            with pixelferry.Viewer(8, 8, headless=True, display="memory", backend=backend) as viewer:
                compare(viewer, array, shades(over(array, array.min(), array.max())), range="minmax")
        except pixelferry.DeviceError:
            assert backend != "cpu"


def test_the_first_line_of_most_users(tmp_path):
    pixelferry.show(np.random.rand(48, 64), save=tmp_path / "x.png")
    pixelferry.show(np.fft.fft2(np.eye(8)), save=tmp_path / "y.png", colormap="magma", range=("1%", "99%"))
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in ["x.png", "y.png"])


def test_a_side_that_no_window_has_is_saved_and_else_refused_in_a_sentence(tmp_path, viewer):
    tall = np.arange(40000, dtype="f4").reshape(20000, 2)
    pixelferry.show(tall, save=tmp_path / "x.png", range="minmax")
    width, height = np.frombuffer((tmp_path / "x.png").read_bytes()[16:24], ">u4")
    assert (width, height) == (2, 20000)
    with pytest.raises(pixelferry.ShapeError) as refused:
        pixelferry.Viewer(64, 48, headless=True, display="gl").show(np.zeros((1, 200000), "u1"))
    assert "200000x1 pixels" in str(refused.value) and len(str(refused.value)) < 250, refused.value


@pytest.mark.parametrize("array, lines", [
    (np.array([["a"]]), ["<U1"]), (np.array([[b"a"]]), ["|S1"]), (np.zeros((2, 2), "V2"), ["|V2", "ml_dtypes"]),
    (np.zeros((2, 2), [("a", "f4")]), ["x['field']"]),
    (np.ma.masked_less(np.arange(4.0).reshape(2, 2), 2), ["filled"]),
    (np.zeros((4, 4), "g"), ["astype('float64')"])], ids=lambda of: str(getattr(of, "dtype", "")))
def test_what_an_array_carries_beside_its_numbers_is_refused_and_named(viewer, array, lines):
    with pytest.raises(pixelferry.DtypeError) as refused:
        viewer.show(array)
    assert all(line in str(refused.value) for line in lines), refused.value


def test_a_mask_that_hides_nothing_is_nothing(viewer):
    viewer.show(np.ma.masked_array(np.zeros((2, 2), "u1")))
    viewer.show(np.ma.masked_array(np.zeros((2, 2), "u1"), mask=[[False] * 2] * 2))


def test_bands_are_named(viewer):
    bands = np.zeros((12, 16, 6), "u1")
    with pytest.raises(pixelferry.ShapeError, match='layout="HWC"'):
        viewer.show(bands, channel=3)
    with pytest.raises(pixelferry.ShapeError, match="channel=0"):
        viewer.show(bands, "HWC")
    viewer.show(bands, "HWC", channel=3)
    viewer.show(bands)
    assert "bands: layout=HWC" in viewer.explain()
