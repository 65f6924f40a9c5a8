// A Qt application of the shape of Maya and Houdini: it owns QApplication and exec(), embeds Python,
// and offers its scene as the module qt_host. Its traps are theirs too:
//   - a command of the scene raises off the main thread;
//   - what is deferred runs when the application is idle, and in batch it never runs;
//   - a chunk of the undo stack that is left open swallows what comes after;
//   - it shows modal dialogs of its own, and hands out its main window as a number;
//   - at its end it finalizes Python first and deletes its window after that.
#undef slots
#include <Python.h>
#define slots Q_SLOTS
#include <QApplication>
#include <QDialog>
#include <QListWidget>
#include <QMainWindow>
#include <QMenuBar>
#include <QThread>
#include <QTimer>
#include <QUndoCommand>
#include <QUndoStack>
#include <memory>

struct Node {
  QString name, type;
  bool operator==(const Node &other) const { return name == other.name && type == other.type; }
};
using Scene = QList<Node>;

static Scene scene;
static QStringList selection;
static QUndoStack *undos;
static QMainWindow *window;
static QListWidget *view;
static bool batch, chunk_open;
static Scene chunk_before;
static QString chunk_label;
static int exit_code;

static void show_scene() {
  if (!view) return;
  view->clear();
  for (const Node &node : scene) view->addItem(node.name + "  (" + node.type + ")");
}

class Change : public QUndoCommand {
public:
  Change(const QString &label, Scene before, Scene after)
      : QUndoCommand(label), before(std::move(before)), after(std::move(after)) {}
  void undo() override { scene = before; show_scene(); }
  void redo() override { scene = after; show_scene(); }

private:
  Scene before, after;
};

static bool allowed() {
  if (QThread::currentThread() == QCoreApplication::instance()->thread()) return true;
  PyErr_SetString(PyExc_RuntimeError, "the scene is reached from the main thread only");
  return false;
}

static void edited(const QString &label, const Scene &before) {
  if (!chunk_open) undos->push(new Change(label, before, scene));
  show_scene();
}

static int find(const QString &name) {
  for (int at = 0; at < scene.size(); ++at)
    if (scene[at].name == name) return at;
  return -1;
}

static PyObject *text(const QString &value) { return PyUnicode_FromString(value.toUtf8().constData()); }

static PyObject *create(PyObject *, PyObject *args) {
  const char *name, *type = "node";
  if (!PyArg_ParseTuple(args, "s|s", &name, &type) || !allowed()) return nullptr;
  if (find(name) >= 0) return PyErr_Format(PyExc_ValueError, "there is a node named %s", name);
  const Scene before = scene;
  scene.append(Node{name, type});
  edited(QString("create %1").arg(name), before);
  Py_RETURN_NONE;
}

static PyObject *remove_node(PyObject *, PyObject *args) {
  const char *name;
  if (!PyArg_ParseTuple(args, "s", &name) || !allowed()) return nullptr;
  if (find(name) < 0) return PyErr_Format(PyExc_ValueError, "no node named %s", name);
  const Scene before = scene;
  scene.removeAt(find(name));
  selection.removeAll(name);
  edited(QString("delete %1").arg(name), before);
  Py_RETURN_NONE;
}

static PyObject *rename_node(PyObject *, PyObject *args) {
  const char *name, *other;
  if (!PyArg_ParseTuple(args, "ss", &name, &other) || !allowed()) return nullptr;
  if (find(name) < 0) return PyErr_Format(PyExc_ValueError, "no node named %s", name);
  const Scene before = scene;
  scene[find(name)].name = other;
  edited(QString("rename %1").arg(name), before);
  Py_RETURN_NONE;
}

static PyObject *nodes(PyObject *, PyObject *) {
  if (!allowed()) return nullptr;
  PyObject *list = PyList_New(0);
  for (const Node &node : scene) {
    PyObject *pair = Py_BuildValue("(ss)", node.name.toUtf8().constData(), node.type.toUtf8().constData());
    PyList_Append(list, pair);
    Py_DECREF(pair);
  }
  return list;
}

static PyObject *select_nodes(PyObject *, PyObject *args) {
  PyObject *list;
  if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list) || !allowed()) return nullptr;
  selection.clear();
  for (Py_ssize_t at = 0; at < PyList_Size(list); ++at) {
    const char *name = PyUnicode_AsUTF8(PyList_GetItem(list, at));
    if (!name) return nullptr;
    if (find(name) >= 0) selection.append(name);
  }
  Py_RETURN_NONE;
}

static PyObject *selected(PyObject *, PyObject *) {
  PyObject *list = PyList_New(0);
  for (const QString &name : selection) {
    PyObject *one = text(name);
    PyList_Append(list, one);
    Py_DECREF(one);
  }
  return list;
}

static PyObject *open_chunk(PyObject *, PyObject *args) {
  const char *label;
  if (!PyArg_ParseTuple(args, "s", &label) || !allowed()) return nullptr;
  chunk_before = scene;
  chunk_label = label;
  chunk_open = true;
  Py_RETURN_NONE;
}

static PyObject *close_chunk(PyObject *, PyObject *) {
  if (!allowed()) return nullptr;
  if (chunk_open && !(scene == chunk_before)) undos->push(new Change(chunk_label, chunk_before, scene));
  chunk_open = false;
  Py_RETURN_NONE;
}

static PyObject *undo_label(PyObject *, PyObject *) {
  if (!undos->canUndo()) Py_RETURN_NONE;
  return text(undos->undoText());
}

static PyObject *undo_depth(PyObject *, PyObject *) { return PyLong_FromLong(undos->index()); }

static PyObject *undo(PyObject *, PyObject *) {
  if (!allowed()) return nullptr;
  undos->undo();
  Py_RETURN_NONE;
}

static PyObject *redo(PyObject *, PyObject *) {
  if (!allowed()) return nullptr;
  undos->redo();
  Py_RETURN_NONE;
}

static PyObject *defer(PyObject *, PyObject *function) {
  if (batch) Py_RETURN_NONE;  // without a word, as Maya's executeDeferred
  Py_INCREF(function);
  QTimer::singleShot(0, QCoreApplication::instance(), [function] {
    const PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *result = PyObject_CallNoArgs(function);
    if (!result) PyErr_Print();
    Py_XDECREF(result);
    Py_DECREF(function);
    PyGILState_Release(lock);
  });
  Py_RETURN_NONE;
}

static PyObject *modal(PyObject *, PyObject *args) {
  int milliseconds;
  if (!PyArg_ParseTuple(args, "i", &milliseconds) || !allowed()) return nullptr;
  QDialog dialog(window);
  dialog.setWindowTitle("The application asks");
  QTimer::singleShot(milliseconds, &dialog, &QDialog::accept);
  Py_BEGIN_ALLOW_THREADS;
  dialog.exec();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *main_window(PyObject *, PyObject *) { return PyLong_FromVoidPtr(window); }
static PyObject *is_batch(PyObject *, PyObject *) { return PyBool_FromLong(batch); }

static PyObject *quit(PyObject *, PyObject *args) {
  if (!PyArg_ParseTuple(args, "|i", &exit_code)) return nullptr;
  QCoreApplication::exit(exit_code);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"create", create, METH_VARARGS, ""},           {"delete", remove_node, METH_VARARGS, ""},
    {"rename", rename_node, METH_VARARGS, ""},      {"nodes", nodes, METH_NOARGS, ""},
    {"select", select_nodes, METH_VARARGS, ""},     {"selected", selected, METH_NOARGS, ""},
    {"open_chunk", open_chunk, METH_VARARGS, ""},   {"close_chunk", close_chunk, METH_NOARGS, ""},
    {"undo_label", undo_label, METH_NOARGS, ""},    {"undo", undo, METH_NOARGS, ""},
    {"redo", redo, METH_NOARGS, ""},                {"defer", defer, METH_O, ""},
    {"modal", modal, METH_VARARGS, ""},             {"main_window", main_window, METH_NOARGS, ""},
    {"undo_depth", undo_depth, METH_NOARGS, ""},    {"is_batch", is_batch, METH_NOARGS, ""},        {"quit", quit, METH_VARARGS, ""},
    {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "qt_host", nullptr, -1, methods};
static PyObject *make_module() { return PyModule_Create(&module); }

static void open_window() {
  window = new QMainWindow;
  window->setWindowTitle("Qt host");
  window->resize(900, 640);
  view = new QListWidget;
  window->setCentralWidget(view);
  QMenu *edit = window->menuBar()->addMenu("&Edit");
  QAction *back = undos->createUndoAction(window);
  back->setShortcut(QKeySequence::Undo);
  edit->addAction(back);
  QAction *forth = undos->createRedoAction(window);
  forth->setShortcut(QKeySequence::Redo);
  edit->addAction(forth);
  window->show();
}

static bool run(const char *file) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  FILE *script = fopen(file, "r");
  const bool done = script && PyRun_SimpleFileEx(script, file, 1) == 0;
  PyGILState_Release(lock);
  return done;
}

int main(int argc, char **argv) {
  batch = argc > 2 && qstrcmp(argv[2], "--batch") == 0;
  std::unique_ptr<QCoreApplication> app(
      batch ? new QCoreApplication(argc, argv) : new QApplication(argc, argv));
  undos = new QUndoStack(app.get());
  if (!batch) open_window();
  PyImport_AppendInittab("qt_host", make_module);
  Py_Initialize();
  if (batch) {
    exit_code = run(argv[1]) ? exit_code : 3;
  } else {
    QTimer::singleShot(0, app.get(), [argv] { if (!run(argv[1])) QCoreApplication::exit(3); });
    PyThreadState *python = PyEval_SaveThread();  // other threads of Python's run while it is idle
    exit_code = app->exec();
    PyEval_RestoreThread(python);
  }
  const int finalized = Py_FinalizeEx();
  delete window;
  return finalized ? 4 : exit_code;
}
