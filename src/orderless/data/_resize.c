/* An image squeezed into a square; resizing.py does the same in NumPy, to the very same bytes.

   The rule is PyTorch's for bytes: first along rows, then along columns; weights of 16 bits; after each a sum is rounded
   to a byte. Both are one function, which resizes lines and lays its result down with rows and columns exchanged: what
   the second time reads as lines are columns of the image. It is done strip by strip, so that what lies between the two
   stays in the processor's own memory. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#endif

#define LINES 8  /* resized together */
#define STRIP 64 /* columns of the result that are made together */

typedef struct {
    Py_ssize_t length, size, taps; /* from so many pixels to so many, each from at most so many */
    const int32_t *first;          /* [size] the first pixel of each */
    const int16_t *weights;        /* [size, taps] */
    int precision;                 /* a weight of one is 1 << precision */
    Py_ssize_t pairs;              /* of neighbouring pixels for each; 0 where they are not used */
    int32_t *begin;                /* [size] the first pair of each */
    int16_t *paired;               /* [size, pairs, 2] */
} Axis;

typedef struct {
    uint8_t *pixels;   /* four bytes each */
    Py_ssize_t stride; /* pixels from a line to the next */
} Lines;

static uint8_t as_byte(int32_t sum, int precision)
{
    int32_t value = sum >> precision;
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

/* in [count, length] -> results `from` to `to` of each line, out [to - from, count]; as any processor does it. */
static void resize_plain(Lines in, Py_ssize_t count, const Axis *axis, Py_ssize_t from, Py_ssize_t to, Lines out)
{
    for (Py_ssize_t line = 0; line < count; line++)
        for (Py_ssize_t x = from; x < to; x++) {
            const int16_t *weights = axis->weights + x * axis->taps;
            const Py_ssize_t left = axis->length - axis->first[x], taps = left < axis->taps ? left : axis->taps;
            const uint8_t *pixel = in.pixels + 4 * (line * in.stride + axis->first[x]);
            uint8_t *place = out.pixels + 4 * ((x - from) * out.stride + line);
            const int32_t half = 1 << axis->precision >> 1;
            int32_t sums[3] = {half, half, half};
            for (Py_ssize_t tap = 0; tap < taps; tap++, pixel += 4)
                for (int colour = 0; colour < 3; colour++) sums[colour] += weights[tap] * pixel[colour];
            for (int colour = 0; colour < 3; colour++) place[colour] = as_byte(sums[colour], axis->precision);
            place[3] = 0;
        }
}

#ifdef AVX2
/* The weights in pairs, as those of two neighbouring pixels of which the first is even: where the pairs of each result
   begin, and [size, pairs] of them. The last begin earlier, if need be: there is nothing beyond the end of a line.
   Returns 0 if there is no memory. */
static int pair_weights(Axis *axis)
{
    const Py_ssize_t pairs = axis->taps / 2 + 1 /* that so many pixels can touch */, all = (axis->length + 1) / 2;
    if (!__builtin_cpu_supports("avx2") || pairs > all) return 1;
    axis->begin = PyMem_RawMalloc((size_t)axis->size * sizeof *axis->begin);
    axis->paired = PyMem_RawCalloc((size_t)(axis->size * pairs), 2 * sizeof *axis->paired);
    if (!axis->begin || !axis->paired) return 0;
    axis->pairs = pairs;
    for (Py_ssize_t x = 0; x < axis->size; x++) {
        axis->begin[x] = (int32_t)(axis->first[x] / 2 < all - pairs ? axis->first[x] / 2 : all - pairs);
        const Py_ssize_t shift = axis->first[x] - 2 * (Py_ssize_t)axis->begin[x], left = axis->length - axis->first[x];
        const Py_ssize_t taps = left < axis->taps ? left : axis->taps;
        memcpy(axis->paired + 2 * pairs * x + shift, axis->weights + x * axis->taps, (size_t)taps * sizeof *axis->paired);
    }
    return 1;
}

/* Pixels 2 k and 2 k + 1 of eight lines -> to[3 k], to[3 k + 1], to[3 k + 2]: their reds, greens and blues, in pairs. */
AVX2 static void gather_pairs(const uint8_t *const lines[LINES], Py_ssize_t length, __m256i *to)
{
    const __m256i by_colour = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                               13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i zero = _mm256_setzero_si256();
    uint8_t rest[LINES][16];
    for (Py_ssize_t x = 0; x < length; x += 4, to += 6) {
        const uint8_t *from[LINES];
        for (int line = 0; line < LINES; line++) from[line] = lines[line] + 4 * x;
        if (length - x < 4) { /* no line is read beyond its end */
            memset(rest, 0, sizeof rest);
            for (int line = 0; line < LINES; line++) {
                memcpy(rest[line], from[line], (size_t)(length - x) * 4);
                from[line] = rest[line];
            }
        }
        __m256i four[4]; /* pixels of line i, and of line i + 4 */
        for (int i = 0; i < 4; i++)
            four[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)from[i])),
                                              _mm_loadu_si128((const __m128i *)from[i + 4]), 1);
        for (int pair = 0; pair < 2; pair++) {
            const __m256i low = pair ? _mm256_unpackhi_epi64(four[0], four[1]) : _mm256_unpacklo_epi64(four[0], four[1]);
            const __m256i high = pair ? _mm256_unpackhi_epi64(four[2], four[3]) : _mm256_unpacklo_epi64(four[2], four[3]);
            const __m256i a = _mm256_shuffle_epi8(low, by_colour), b = _mm256_shuffle_epi8(high, by_colour);
            const __m256i red_green = _mm256_unpacklo_epi32(a, b), blue = _mm256_unpackhi_epi32(a, b);
            _mm256_store_si256(to + 3 * pair, _mm256_unpacklo_epi8(red_green, zero));
            _mm256_store_si256(to + 3 * pair + 1, _mm256_unpackhi_epi8(red_green, zero));
            _mm256_store_si256(to + 3 * pair + 2, _mm256_unpacklo_epi8(blue, zero));
        }
    }
}

/* As resize_plain; `gathered` is memory for 3 vectors a pair of a line, an even number of pairs. */
AVX2 static void resize_wide(Lines in, Py_ssize_t count, const Axis *axis, Py_ssize_t from, Py_ssize_t to, Lines out,
                             __m256i *gathered)
{
    const __m256i half = _mm256_set1_epi32(1 << axis->precision >> 1);
    const __m256i by_pixel = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                              13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m128i precision = _mm_cvtsi32_si128(axis->precision);
    const Py_ssize_t pairs = axis->pairs, start = 2 * (Py_ssize_t)axis->begin[from];
    Py_ssize_t length = 2 * (axis->begin[to - 1] + pairs) - start; /* pixels that the results touch */
    if (start + length > axis->length) length = axis->length - start;
    for (Py_ssize_t line = 0; line < count; line += LINES) {
        const Py_ssize_t present = count - line < LINES ? count - line : LINES;
        const uint8_t *lines[LINES];
        for (int i = 0; i < LINES; i++) /* where there are fewer, the last comes again, for nobody */
            lines[i] = in.pixels + 4 * (in.stride * (line + (i < present ? i : present - 1)) + start);
        gather_pairs(lines, length, gathered);
        for (Py_ssize_t x = from; x < to; x++) {
            const __m256i *pixels = gathered + 3 * (axis->begin[x] - start / 2);
            const int16_t *weights = axis->paired + 2 * pairs * x;
            __m256i red = half, green = half, blue = half;
            for (Py_ssize_t pair = 0; pair < pairs; pair++, pixels += 3, weights += 2) {
                int32_t both;
                memcpy(&both, weights, sizeof both);
                const __m256i weight = _mm256_set1_epi32(both);
                red = _mm256_add_epi32(red, _mm256_madd_epi16(_mm256_load_si256(pixels), weight));
                green = _mm256_add_epi32(green, _mm256_madd_epi16(_mm256_load_si256(pixels + 1), weight));
                blue = _mm256_add_epi32(blue, _mm256_madd_epi16(_mm256_load_si256(pixels + 2), weight));
            }
            red = _mm256_sra_epi32(red, precision), green = _mm256_sra_epi32(green, precision);
            blue = _mm256_sra_epi32(blue, precision);
            const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(red, green), _mm256_packs_epi32(blue, blue));
            const __m256i result = _mm256_shuffle_epi8(bytes, by_pixel);
            uint8_t *place = out.pixels + 4 * ((x - from) * out.stride + line);
            if (present == LINES)
                _mm256_storeu_si256((__m256i *)place, result);
            else
                memcpy(place, &result, (size_t)present * 4);
        }
    }
}
#else
static int pair_weights(Axis *axis) { return 1; }
#endif

static void resize_lines(Lines in, Py_ssize_t count, const Axis *axis, Py_ssize_t from, Py_ssize_t to, Lines out,
                         void *gathered)
{
#ifdef AVX2
    if (axis->pairs) {
        resize_wide(in, count, axis, from, to, out, gathered);
        return;
    }
#endif
    resize_plain(in, count, axis, from, to, out);
}

/* pixels [H, W] -> out [S, S], four bytes each. Returns 0 if there is no memory. */
static int squeeze(uint8_t *pixels, uint8_t *out, Axis *across, Axis *down)
{
    const Py_ssize_t size = across->size, height = down->length;
    const Py_ssize_t longest = across->length > height ? across->length : height;
    /* An odd number of eight pixels: columns that lie powers of two apart compete for the same places in a cache. */
    const Py_ssize_t stride = (height + 7) / 8 * 8 | 8;
    uint8_t *columns = PyMem_RawMalloc(STRIP * (size_t)stride * 4);
    uint8_t *memory = PyMem_RawMalloc((size_t)(longest + 3) / 4 * 2 * 3 * 32 + 32);
    const int enough = columns && memory && pair_weights(across) && pair_weights(down);
    void *gathered = (void *)(((uintptr_t)memory + 31) / 32 * 32);
    for (Py_ssize_t from = 0; enough && from < size; from += STRIP) {
        const Py_ssize_t to = from + STRIP < size ? from + STRIP : size;
        resize_lines((Lines){pixels, across->length}, height, across, from, to, (Lines){columns, stride}, gathered);
        resize_lines((Lines){columns, stride}, to - from, down, 0, down->size, (Lines){out + 4 * from, size}, gathered);
    }
    PyMem_RawFree(columns), PyMem_RawFree(memory);
    for (int i = 0; i < 2; i++) PyMem_RawFree((i ? across : down)->begin), PyMem_RawFree((i ? across : down)->paired);
    return enough;
}

/* Whether two arrays are first int32 [size] and weights int16 [size, taps] for so many pixels. */
static int read_axis(Axis *axis, const Py_buffer *first, const Py_buffer *weights, Py_ssize_t length, Py_ssize_t size)
{
    if (first->ndim != 1 || weights->ndim != 2 || !first->format || !weights->format || strcmp(first->format, "i") ||
        first->itemsize != sizeof(int32_t) || strcmp(weights->format, "h") || first->shape[0] != size || weights->shape[0] != size || weights->shape[1] < 1)
        return 0;
    axis->length = length, axis->size = size, axis->taps = weights->shape[1];
    axis->first = first->buf, axis->weights = weights->buf;
    if (axis->precision < 0 || axis->precision > 22) return 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (axis->first[i] < (i ? axis->first[i - 1] : 0) || axis->first[i] >= length) return 0;
    return 1;
}

PyDoc_STRVAR(resize_doc, "resize(pixels, out, first, weights, precision, first, weights, precision) -> None\n\n\
Fill out [S, S, 4] bytes with pixels [H, W, 4] bytes, of which the fourth has no meaning. For each axis, along rows and\n\
along columns: the first pixel of each result (int32 [S], in order), its weights (int16 [S, taps], zero\n\
for pixels beyond the end), and the bits of their precision. Raises ValueError for anything else.");

static PyObject *resize(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *arrays[6];
    Py_buffer views[6], *pixels = views, *out = views + 1;
    Axis across = {0}, down = {0};
    int held, done = 0;
    if (!PyArg_ParseTuple(args, "OOOOiOOi", arrays, arrays + 1, arrays + 2, arrays + 3, &across.precision, arrays + 4,
                          arrays + 5, &down.precision))
        return NULL;
    for (held = 0; held < 6; held++)
        if (PyObject_GetBuffer(arrays[held], views + held,
                               PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (held == 1 ? PyBUF_WRITABLE : 0)))
            goto release;
    for (int i = 0; i < 2; i++)
        if (views[i].ndim != 3 || !views[i].format || strcmp(views[i].format, "B") || views[i].shape[2] != 4) goto refuse;
    if (!read_axis(&across, views + 2, views + 3, pixels->shape[1], out->shape[1]) ||
        !read_axis(&down, views + 4, views + 5, pixels->shape[0], out->shape[0]))
        goto refuse;
    Py_BEGIN_ALLOW_THREADS;
    done = squeeze(pixels->buf, out->buf, &across, &down);
    Py_END_ALLOW_THREADS;
    if (!done) PyErr_NoMemory();
    goto release;
refuse:
    PyErr_SetString(PyExc_ValueError, "arrays of other kinds or shapes");
release:
    while (held--) PyBuffer_Release(views + held);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"resize", resize, METH_VARARGS, resize_doc}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_resize", .m_doc = "Images resized, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__resize(void) { return PyModuleDef_Init(&module); }
