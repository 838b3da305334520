/* The two ends of resizing an image, without copies; transforms.py does the same without this file.

   Pillow keeps four bytes for a pixel of three colours. `memory` finds them where they lie, so that they can be resized
   as they are, and `normalise` makes an encoder's numbers of the result, leaving the fourth byte out. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)
#define WIDE_VECTORS __attribute__((target_clones("avx2", "default"))) /* the processor chooses when this is loaded */
#else
#define WIDE_VECTORS
#endif

/* As the Arrow C data interface lays it down: https://arrow.apache.org/docs/format/CDataInterface.html */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

PyDoc_STRVAR(memory_doc, "memory(arrow_array, pixels) -> memoryview\n\n\
The bytes of an image with so many pixels, four for each, from what its __arrow_c_array__ gave: good as long as that\n\
lives. Raises ValueError if they are laid out otherwise.");

static PyObject *memory(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *capsule;
    Py_ssize_t pixels;
    if (!PyArg_ParseTuple(args, "On", &capsule, &pixels)) return NULL;
    const struct ArrowArray *image = PyCapsule_GetPointer(capsule, "arrow_array");
    if (!image) return NULL;
    const struct ArrowArray *bytes = image->n_children == 1 ? image->children[0] : NULL;
    if (!bytes || image->offset || bytes->offset || image->length != pixels || bytes->length != 4 * pixels ||
        bytes->n_buffers != 2)
        return PyErr_SetString(PyExc_ValueError, "not four bytes a pixel"), NULL;
    return PyMemoryView_FromMemory((char *)bytes->buffers[1], 4 * pixels, PyBUF_WRITE);
}

WIDE_VECTORS static void three_apart(const uint8_t *pixels, float *place, const float *factor, const float *shift,
                                     Py_ssize_t width)
{
    Py_ssize_t i;
    for (i = 0; i < 3 * width; i++) place[i] = (float)pixels[i] * factor[i] - shift[i];
}

WIDE_VECTORS static void four_apart(const uint8_t *pixels, float *place, const float *factor, const float *shift,
                                    Py_ssize_t width)
{
    Py_ssize_t i;
    for (i = 0; i < width; i++) {
        place[3 * i] = (float)pixels[4 * i] * factor[0] - shift[0];
        place[3 * i + 1] = (float)pixels[4 * i + 1] * factor[1] - shift[1];
        place[3 * i + 2] = (float)pixels[4 * i + 2] * factor[2] - shift[2];
    }
}

PyDoc_STRVAR(normalise_doc, "normalise(pixels, apart, place, factor, shift, lines, width) -> None\n\n\
Fill place [lines, width, 3] float32 with pixels * factor - shift. Pixels are bytes, `apart` (3 or 4) from one to the\n\
next; factor and shift [width * 3] float32 repeat the values of the three colours. All are addresses of contiguous\n\
memory.");

static PyObject *normalise(PyObject *Py_UNUSED(self), PyObject *args)
{
    unsigned long long pixels_at, place_at, factor_at, shift_at;
    Py_ssize_t apart, lines, width, line;
    if (!PyArg_ParseTuple(args, "KnKKKnn", &pixels_at, &apart, &place_at, &factor_at, &shift_at, &lines, &width))
        return NULL;
    if (apart != 3 && apart != 4) return PyErr_SetString(PyExc_ValueError, "pixels are 3 or 4 bytes apart"), NULL;
    for (line = 0; line < lines; line++)
        (apart == 3 ? three_apart : four_apart)(
            (const uint8_t *)(uintptr_t)pixels_at + line * width * apart, (float *)(uintptr_t)place_at + line * width * 3,
            (const float *)(uintptr_t)factor_at, (const float *)(uintptr_t)shift_at, width);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"memory", memory, METH_VARARGS, memory_doc},
                                {"normalise", normalise, METH_VARARGS, normalise_doc},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_pixels", .m_doc = "Bytes of images, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__pixels(void) { return PyModuleDef_Init(&module); }
