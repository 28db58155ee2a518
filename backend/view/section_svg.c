/* The picture of a section; see section_svg.h.
 *
 * Lengths are tenths of a pixel, so that all numbers are integers and equal on every host. A site
 * of the grid is a cell with the unit at its upper left and the switch at its lower right; between
 * the units run streets, in which links lie. Traffic keeps to the right, one track per lane. */
#include "backend/view/section_svg.h"

#include "backend/section/fabric/fabric.h"
#include "support/text/escape.h"

#include <stdlib.h>

enum {
  cell = 240,         /* from site to site */
  unitInset = 30,     /* from the cell's corner to the unit */
  unitSize = 120,     /* width and height of a unit */
  switchAt = 210,     /* from the cell's corner to the switch */
  halfLink = 120,     /* from a switch to where the next cell's half begins */
  generatorGap = 130, /* between the grid and the address generators beside it */
  margin = 420,
  mostLayersListed = 24,
};

/* What the colours tell. The order is that of the legend. */
typedef enum { kindPcu, kindPmu, kindLoad, kindStore, kindCount } Kind;

typedef struct KindStyle {
  const char *id;      /* of the symbol and of the streams that come from such a unit */
  const char *meaning; /* in the legend */
  const char *light, *dark;
  int32_t radius; /* of the symbol's corners */
} KindStyle;

static const KindStyle kindStyles[kindCount] = {
    [kindPcu] = {"pcu", "PCU: computes", "#0f8a5f", "#3fcf8e", 40},
    [kindPmu] = {"pmu", "PMU: holds data", "#2f6fde", "#6aa5ff", 10},
    [kindLoad] = {"load", "loads from DRAM", "#c96a00", "#ffab45", 24},
    [kindStore] = {"store", "stores to DRAM", "#c0336e", "#ff7fb0", 24},
};

typedef struct Layer {
  const char *name;
  uint32_t units[kindCount];
} Layer;

typedef struct Picture {
  const SambaSection *section;
  const SambaMachine *machine;
  SambaText *out;
  SambaArena arena;
  int32_t columns, rows;
  int32_t scale; /* small chips are drawn larger */
  int32_t width, chip_x, chip_y, chip_width, chip_height;
  uint32_t layer_count;
  Layer *layers;        /* in the order of their first units */
  uint32_t *unit_layer; /* 1 + the layer's number, 0 for none: what is written on the unit */
  uint32_t used[kindCount];
  uint32_t hop_count;
  int32_t *generator_x; /* per address generator: its middle */
} Picture;

typedef struct Point {
  int32_t x, y;
} Point;

static Kind kindOf(const SambaUnit *unit) {
  static const Kind kinds[] = {kindLoad, kindStore, kindPmu, kindPcu};
  return kinds[unit->kind];
}

/*===-- Text ----------------------------------------------------------------------------------===*/

/* Puts a name in: markup is escaped, bytes that are not text appear as \XX. */
static void putName(Picture *picture, const char *name) {
  SambaStringRef quoted = sambaStringEscape(&picture->arena, sambaStringRef(name));
  for (size_t i = 1; i + 1 < quoted.size; ++i) {
    char c = quoted.data[i];
    switch (c) {
    case '&':
      sambaTextAppendC(picture->out, "&amp;");
      break;
    case '<':
      sambaTextAppendC(picture->out, "&lt;");
      break;
    case '>':
      sambaTextAppendC(picture->out, "&gt;");
      break;
    default:
      sambaTextAppend(picture->out, &c, 1);
    }
  }
}

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

/*===-- What there is to draw -----------------------------------------------------------------===*/

static SambaStatus checkComplete(const SambaSection *section, const SambaMachine *machine) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (!sambaUnitIsPlaced(&section->units[u]))
      return sambaStatusMake(
          SAMBA_INVALID, "section '%s' cannot be drawn: unit '%s' is not placed; place it first",
          section->name, section->units[u].name);
  bool mesh = machine->network == SAMBA_NETWORK_MESH;
  for (uint32_t s = 0; s < section->stream_count && mesh; ++s)
    if (section->streams[s].hop_count == 0)
      return sambaStatusMake(
          SAMBA_INVALID,
          "section '%s' cannot be drawn: stream %u from unit '%s' is not routed; route it first",
          section->name, s, section->units[section->streams[s].source.unit].name);
  return NULL;
}

static void collectLayers(Picture *picture) {
  const SambaSection *section = picture->section;
  picture->unit_layer = SAMBA_ARENA_ARRAY(&picture->arena, uint32_t, section->unit_count);
  picture->layers = SAMBA_ARENA_ARRAY(&picture->arena, Layer, section->unit_count);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    ++picture->used[kindOf(unit)];
    if (!unit->layer[0])
      continue;
    uint32_t layer = 0;
    while (layer < picture->layer_count && strcmp(picture->layers[layer].name, unit->layer) != 0)
      ++layer;
    if (layer == picture->layer_count)
      picture->layers[picture->layer_count++].name = unit->layer;
    ++picture->layers[layer].units[kindOf(unit)];
    picture->unit_layer[u] = layer + 1;
  }

  for (uint32_t s = 0; s < section->stream_count; ++s)
    picture->hop_count += section->streams[s].hop_count;
}

/* Address generators that meet the same switch stand side by side. */
static void layOutGenerators(Picture *picture) {
  const SambaMachine *machine = picture->machine;
  uint32_t count = (uint32_t)machine->ag_count;
  picture->generator_x = SAMBA_ARENA_ARRAY(&picture->arena, int32_t, count);

  for (uint32_t first = 0, end; first < count; first = end) {
    int32_t x, y, other_x, other_y;
    sambaMachineAgSite(machine, (int32_t)first, &x, &y);
    for (end = first + 1; end < count; ++end) {
      sambaMachineAgSite(machine, (int32_t)end, &other_x, &other_y);
      if (other_x != x || other_y != y)
        break;
    }
    int32_t together = (int32_t)(end - first);
    for (uint32_t ag = first; ag < end; ++ag)
      picture->generator_x[ag] =
          x * cell + switchAt +
          (2 * (int32_t)(ag - first) - (together - 1)) * cell / (2 * together);
  }
}

static void layOut(Picture *picture) {
  const int32_t wide = 12480;
  picture->columns = (int32_t)picture->machine->grid_columns;
  picture->rows = (int32_t)picture->machine->grid_rows;
  int32_t grid_width = picture->columns * cell;

  picture->scale = wide / 2 / grid_width;
  if (picture->scale < 1)
    picture->scale = 1;
  if (picture->scale > 4)
    picture->scale = 4;
  picture->chip_width = (grid_width + 60) * picture->scale;
  picture->chip_height =
      (picture->rows * cell + 60 + 2 * (generatorGap + unitSize)) * picture->scale;
  picture->width = picture->chip_width < wide / 2 ? wide / 2 : picture->chip_width;
  picture->width += 2 * margin;
  picture->chip_x = (picture->width - picture->chip_width) / 2;
}

/*===-- Streams -------------------------------------------------------------------------------===*/

/* How far from the middle of its street a lane lies. */
static int32_t trackOf(const Picture *picture, SambaStreamKind kind, uint32_t lane) {
  int32_t lanes = (int32_t)sambaLinkLanes(picture->machine, kind);
  switch (kind) {
  case SAMBA_STREAM_VECTOR:
    return 10 + (lanes > 1 ? (int32_t)lane * 24 / (lanes - 1) : 0);
  case SAMBA_STREAM_SCALAR:
    return 42 + (lanes > 1 ? (int32_t)lane * 6 / (lanes - 1) : 0);
  default:
    return 50 + (lanes > 1 ? (int32_t)lane * 6 / (lanes - 1) : 0);
  }
}

/* Where a hop begins (`in`) or ends at its switch, relative to the switch. */
static Point hopEnd(const Picture *picture, const SambaHop *hop, SambaStreamKind kind, bool in) {
  const SambaSwitchLane *lane = in ? &hop->in : &hop->out;
  int32_t track = trackOf(picture, kind, lane->lane);
  int32_t keep = in ? -track : track; /* what comes from a side runs the other way there */

  switch (lane->port) {
  case SAMBA_SWITCH_NORTH:
    return (Point){keep, -halfLink};
  case SAMBA_SWITCH_SOUTH:
    return (Point){-keep, halfLink};
  case SAMBA_SWITCH_EAST:
    return (Point){halfLink, keep};
  case SAMBA_SWITCH_WEST:
    return (Point){-halfLink, -keep};
  case SAMBA_SWITCH_UNIT: {
    const int32_t corner = unitInset + unitSize - 16 - switchAt; /* a little below the unit */
    int32_t aside = 18 * (int32_t)(lane->lane / 2 % 5);
    return lane->lane % 2 ? (Point){corner, corner - aside} : (Point){corner - aside, corner};
  }
  default: {
    int32_t middle = picture->generator_x[lane->ag] - hop->x * cell - switchAt;
    bool top = sambaMachineAgIsAbove(picture->machine, lane->ag);
    return (Point){middle, top ? -switchAt - generatorGap : cell - switchAt + generatorGap};
  }
  }
}

static bool isUpright(uint8_t port) {
  return port == SAMBA_SWITCH_NORTH || port == SAMBA_SWITCH_SOUTH || port == SAMBA_SWITCH_AG;
}

/* The corner that a hop's curve bends towards: where the track that it leaves meets the track that
 * it takes. */
static Point bendOf(const SambaHop *hop, Point from, Point to) {
  if (hop->in.port == SAMBA_SWITCH_UNIT)
    return isUpright(hop->out.port) ? (Point){to.x, from.y} : (Point){from.x, to.y};
  return isUpright(hop->in.port) ? (Point){from.x, to.y} : (Point){to.x, from.y};
}

/* One command that draws the hop from where the pen is. */
static void putHop(Picture *picture, const SambaHop *hop, Point from, Point to) {
  bool straight = isUpright(hop->in.port) == isUpright(hop->out.port) &&
                  hop->in.port != SAMBA_SWITCH_UNIT && hop->out.port != SAMBA_SWITCH_UNIT;
  if (hop->in.port == SAMBA_SWITCH_UNIT && hop->out.port == SAMBA_SWITCH_UNIT)
    straight = true;
  int32_t dx = to.x - from.x;
  int32_t dy = to.y - from.y;

  if (straight && dx == 0) {
    sambaTextFormat(picture->out, "v%d", dy);
  } else if (straight && dy == 0) {
    sambaTextFormat(picture->out, "h%d", dx);
  } else if (straight) {
    sambaTextFormat(picture->out, "l%d %d", dx, dy);
  } else {
    Point bend = bendOf(hop, from, to);
    sambaTextFormat(picture->out, "q%d %d %d %d", bend.x - from.x, bend.y - from.y, dx, dy);
  }
}

/* A stream without hops: straight lines from the source to its destinations. */
static void putWire(Picture *picture, const SambaStream *stream) {
  const SambaUnit *units = picture->section->units;
  int32_t x, y;
  sambaUnitSwitch(picture->machine, &units[stream->source.unit], &x, &y);
  Point from = {x * cell + switchAt, y * cell + switchAt};

  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    sambaUnitSwitch(picture->machine, &units[stream->destinations[d].unit], &x, &y);
    sambaTextFormat(picture->out, "M%d %dL%d %d", from.x, from.y, x * cell + switchAt,
                    y * cell + switchAt);
  }
}

static void putStream(Picture *picture, uint32_t index) {
  static const char *const classes[] = {[SAMBA_STREAM_VECTOR] = "",
                                        [SAMBA_STREAM_SCALAR] = " scalar",
                                        [SAMBA_STREAM_CONTROL] = " control"};
  const SambaSection *section = picture->section;
  const SambaStream *stream = &section->streams[index];
  const SambaUnit *source = &section->units[stream->source.unit];
  bool pen_down = false;
  Point pen = {0};

  sambaTextFormat(picture->out, "<path class=\"from-%s%s\" d=\"", kindStyles[kindOf(source)].id,
                  classes[stream->kind]);
  if (!stream->hop_count)
    putWire(picture, stream);
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    Point from = hopEnd(picture, hop, stream->kind, true);
    Point to = hopEnd(picture, hop, stream->kind, false);
    Point start = {hop->x * cell + switchAt + from.x, hop->y * cell + switchAt + from.y};
    if (!pen_down || pen.x != start.x || pen.y != start.y)
      sambaTextFormat(picture->out, "M%d %d", start.x, start.y);
    putHop(picture, hop, from, to);
    pen = (Point){start.x + to.x - from.x, start.y + to.y - from.y};
    pen_down = true;
  }

  sambaTextAppendC(picture->out, "\"><title>");
  putName(picture, source->name);
  sambaTextAppendC(picture->out, " → ");
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    if (d)
      sambaTextAppendC(picture->out, ", ");
    putName(picture, section->units[stream->destinations[d].unit].name);
  }
  sambaTextFormat(picture->out, " (%s stream, %u hop%s)</title></path>\n",
                  sambaStreamKindName(stream->kind), stream->hop_count, plural(stream->hop_count));
}

/*===-- Units and the chip below them ---------------------------------------------------------===*/

/* Symbols: one for each pair of kind and layer that occurs, so that a unit is one short element. */
static void putSymbols(Picture *picture) {
  sambaTextAppendC(picture->out, "<defs>\n");
  for (uint32_t layer = 0; layer <= picture->layer_count; ++layer)
    for (int kind = 0; kind < kindCount; ++kind) {
      if (layer && !picture->layers[layer - 1].units[kind])
        continue;
      const KindStyle *style = &kindStyles[kind];
      sambaTextFormat(picture->out,
                      "<g id=\"%s%u\"><rect class=\"%s\" width=\"%d\" height=\"%d\" rx=\"%d\"/>",
                      style->id, layer, style->id, unitSize, unitSize, style->radius);
      if (layer)
        sambaTextFormat(
            picture->out, "<text class=\"mark\" x=\"%d\" y=\"%d\" font-size=\"%d\">%u</text>",
            unitSize / 2, unitSize / 2 + (layer < 100 ? 29 : 20), layer < 100 ? 80 : 56, layer);
      sambaTextAppendC(picture->out, "</g>\n");
    }
  sambaTextAppendC(picture->out, "</defs>\n");
}

static Point unitCorner(const Picture *picture, const SambaUnit *unit) {
  if (!sambaUnitIsAddressGenerator(unit))
    return (Point){unit->x * cell + unitInset, unit->y * cell + unitInset};
  uint32_t ag = unit->load_store.ag;
  bool top = sambaMachineAgIsAbove(picture->machine, (int32_t)ag);
  return (Point){picture->generator_x[ag] - unitSize / 2,
                 top ? -generatorGap - unitSize : picture->rows * cell + generatorGap};
}

static void putUnit(Picture *picture, uint32_t index) {
  const SambaUnit *unit = &picture->section->units[index];
  Point corner = unitCorner(picture, unit);

  sambaTextFormat(picture->out, "<use href=\"#%s%u\" x=\"%d\" y=\"%d\"><title>",
                  kindStyles[kindOf(unit)].id, picture->unit_layer[index], corner.x, corner.y);
  putName(picture, unit->name);
  if (sambaUnitIsAddressGenerator(unit))
    sambaTextFormat(picture->out, ": %s, address generator %u", sambaUnitKindName(unit->kind),
                    unit->load_store.ag);
  else
    sambaTextFormat(picture->out, ": %s, %s (%d, %d)", sambaUnitKindName(unit->kind),
                    unit->kind == SAMBA_UNIT_BUFFER ? "PMU" : "PCU", unit->x, unit->y);
  if (unit->layer[0]) {
    sambaTextAppendC(picture->out, ", layer ");
    putName(picture, unit->layer);
  }
  sambaTextAppendC(picture->out, "</title></use>\n");
}

/* Sites and address generators that the section leaves free, and the switches that it uses. */
static void putGround(Picture *picture) {
  size_t sites = (size_t)picture->columns * (size_t)picture->rows;
  bool *taken = SAMBA_ARENA_ARRAY(&picture->arena, bool, sites);
  bool *switching = SAMBA_ARENA_ARRAY(&picture->arena, bool, sites);
  const SambaSection *section = picture->section;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (!sambaUnitIsAddressGenerator(&section->units[u]))
      taken[section->units[u].y * picture->columns + section->units[u].x] = true;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t h = 0; h < section->streams[s].hop_count; ++h)
      switching[section->streams[s].hops[h].y * picture->columns + section->streams[s].hops[h].x] =
          true;

  sambaTextAppendC(picture->out, "<path class=\"free\" d=\"");
  for (int32_t y = 0; y < picture->rows; ++y)
    for (int32_t x = 0; x < picture->columns; ++x)
      if (!taken[y * picture->columns + x])
        sambaTextFormat(picture->out, "M%d %dh%dv%dh-%dz", x * cell + unitInset,
                        y * cell + unitInset, unitSize, unitSize, unitSize);
  sambaTextAppendC(picture->out, "\"/>\n<path class=\"switch\" d=\"");
  for (int32_t y = 0; y < picture->rows; ++y)
    for (int32_t x = 0; x < picture->columns; ++x)
      if (switching[y * picture->columns + x])
        sambaTextFormat(picture->out, "M%d %dh0", x * cell + switchAt, y * cell + switchAt);
  sambaTextAppendC(picture->out, "\"/>\n");

  for (int32_t die = 1; die < picture->machine->dies; ++die)
    sambaTextFormat(picture->out, "<path class=\"edge\" d=\"M%d -30v%d\"/>\n",
                    die * (picture->columns / (int32_t)picture->machine->dies) * cell + 5,
                    picture->rows * cell + 90);
}

static void putChip(Picture *picture) {
  sambaTextFormat(picture->out, "<g transform=\"translate(%d %d) scale(%d)\">\n",
                  picture->chip_x + 30 * picture->scale,
                  picture->chip_y + (generatorGap + unitSize + 30) * picture->scale,
                  picture->scale);
  sambaTextFormat(picture->out,
                  "<rect class=\"chip\" x=\"-60\" y=\"-60\" width=\"%d\" height=\"%d\" "
                  "rx=\"80\"/>\n",
                  picture->columns * cell + 150, picture->rows * cell + 150);
  putGround(picture);
  sambaTextAppendC(picture->out, "<g class=\"streams\">\n");
  for (uint32_t s = 0; s < picture->section->stream_count; ++s)
    putStream(picture, s);
  sambaTextAppendC(picture->out, "</g>\n<g class=\"units\">\n");
  for (uint32_t u = 0; u < picture->section->unit_count; ++u)
    putUnit(picture, u);
  sambaTextAppendC(picture->out, "</g>\n</g>\n");
}

/*===-- The frame around it -------------------------------------------------------------------===*/

typedef struct Rule {
  const char *selector, *property, *light, *dark;
} Rule;

static void putStyle(Picture *picture) {
  static const Rule rules[] = {
      {".paper", "fill", "#ffffff", "#0d1117"},    {".chip", "fill", "#f4f6f9", "#151b23"},
      {".chip", "stroke", "#d5dbe3", "#30363d"},   {".free", "fill", "#e6eaf0", "#20262e"},
      {".switch", "stroke", "#aab4c0", "#4a5460"}, {".edge", "stroke", "#9aa4b1", "#5b6572"},
      {".ink", "fill", "#1b2430", "#e6edf3"},      {".dim", "fill", "#5a6675", "#9aa6b4"},
      {".mark", "fill", "#ffffff", "#0d1117"}};
  SambaText *out = picture->out;

  sambaTextAppendC(
      out, "<style>\n"
           "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\n"
           ".head{font-weight:600}\n"
           ".mark{text-anchor:middle;font-weight:600}\n"
           ".chip{stroke-width:12}\n"
           ".switch{stroke-width:34;stroke-linecap:round;fill:none}\n"
           ".edge{stroke-width:14;stroke-dasharray:60 40;fill:none}\n"
           ".streams path,.key{fill:none;stroke-width:11;stroke-opacity:.6;stroke-linecap:round}\n"
           ".streams path:hover{stroke-width:36;stroke-opacity:1}\n"
           ".scalar{stroke-dasharray:40 22}\n"
           ".control{stroke-dasharray:12 22}\n");
  for (int dark = 0; dark < 2; ++dark) {
    if (dark)
      sambaTextAppendC(out, "@media (prefers-color-scheme:dark){\n");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i)
      sambaTextFormat(out, "%s{%s:%s}\n", rules[i].selector, rules[i].property,
                      dark ? rules[i].dark : rules[i].light);
    for (int kind = 0; kind < kindCount; ++kind) {
      const KindStyle *style = &kindStyles[kind];
      const char *colour = dark ? style->dark : style->light;
      sambaTextFormat(out, ".%s{fill:%s}\n.from-%s{stroke:%s}\n", style->id, colour, style->id,
                      colour);
    }
  }
  sambaTextAppendC(out, "}\n</style>\n");
}

/* Begins a line of text; the caller appends it and closes the element. */
static void beginText(Picture *picture, const char *class, int32_t x, int32_t y, int32_t size) {
  sambaTextFormat(picture->out, "<text class=\"%s\" x=\"%d\" y=\"%d\" font-size=\"%d\">", class, x,
                  y, size);
}

static void endText(Picture *picture) { sambaTextAppendC(picture->out, "</text>\n"); }

static void putHead(Picture *picture, int32_t size) {
  const SambaMachine *machine = picture->machine;
  beginText(picture, "ink head", margin, margin + size, size * 3 / 2);
  sambaTextAppendC(picture->out, "Section ");
  putName(picture, picture->section->name);
  sambaTextAppendC(picture->out, " on ");
  putName(picture, machine->name);
  endText(picture);

  beginText(picture, "dim", margin, margin + size * 27 / 10, size);
  sambaTextFormat(picture->out,
                  "%u of %lld PCUs, %u of %lld PMUs, %u of %lld address generators, %u stream%s "
                  "over %u hop%s",
                  picture->used[kindPcu], (long long)sambaMachinePcuCount(machine),
                  picture->used[kindPmu], (long long)sambaMachinePmuCount(machine),
                  picture->used[kindLoad] + picture->used[kindStore], (long long)machine->ag_count,
                  picture->section->stream_count, plural(picture->section->stream_count),
                  picture->hop_count, plural(picture->hop_count));
  endText(picture);
}

/* The legend of colours and lines; returns the y below it. */
static int32_t putKey(Picture *picture, int32_t y, int32_t size) {
  int32_t column = (picture->width - 2 * margin) / kindCount;
  for (int kind = 0; kind < kindCount; ++kind) {
    int32_t x = margin + kind * column;
    sambaTextFormat(picture->out,
                    "<g transform=\"translate(%d %d) scale(%d.%d)\"><path class=\"key from-%s\" "
                    "d=\"M60 60h200\"/><rect class=\"%s\" width=\"%d\" height=\"%d\" "
                    "rx=\"%d\"/></g>\n",
                    x, y - size * 17 / 20, size / unitSize, size % unitSize * 10 / unitSize,
                    kindStyles[kind].id, kindStyles[kind].id, unitSize, unitSize,
                    kindStyles[kind].radius);
    beginText(picture, "ink", x + size * 5 / 2, y, size);
    sambaTextAppendC(picture->out, kindStyles[kind].meaning);
    endText(picture);
  }

  y += size * 18 / 10;
  beginText(picture, "dim", margin, y, size);
  sambaTextAppendC(picture->out,
                   "A line is a stream of data, coloured by the unit that makes it. Grey squares "
                   "are free sites, dots are switches in use.");
  endText(picture);

  y += size * 16 / 10;
  beginText(picture, "dim", margin, y, size);
  if (picture->machine->dies > 1)
    sambaTextAppendC(picture->out, "Dashes mark the edge between dies. ");
  if (picture->layer_count)
    sambaTextAppendC(picture->out, "The number on a unit is the layer of the model it works for:");
  endText(picture);
  return y;
}

/* "3 PCUs", after a comma where something stands before it; nothing for none. */
static bool putCount(Picture *picture, uint32_t count, const char *what, bool after) {
  if (!count)
    return after;
  sambaTextFormat(picture->out, "%s%u %s%s", after ? ", " : "", count, what, plural(count));
  return true;
}

/* A name that fits its column: of a long one the end, which tells more. */
static const char *shortName(Picture *picture, const char *name) {
  const size_t most = 36;
  size_t size = strlen(name);
  if (size <= most)
    return name;
  name += size - most;
  while (((unsigned char)*name & 0xc0) == 0x80) /* not inside a character */
    ++name;
  return sambaArenaFormat(&picture->arena, "…%s", name);
}

static void putLayerLine(Picture *picture, uint32_t number, int32_t x, int32_t y, int32_t size) {
  const Layer *layer = &picture->layers[number];
  beginText(picture, "ink", x, y, size);
  sambaTextFormat(picture->out, "<tspan font-weight=\"600\">%u</tspan>  ", number + 1);
  putName(picture, shortName(picture, layer->name));
  sambaTextAppendC(picture->out, " <tspan class=\"dim\">");
  bool any = putCount(picture, layer->units[kindPcu], "PCU", false);
  any = putCount(picture, layer->units[kindPmu], "PMU", any);
  putCount(picture, layer->units[kindLoad] + layer->units[kindStore], "AG", any);
  sambaTextAppendC(picture->out, "</tspan>");
  endText(picture);
}

static int32_t layerLines(const Picture *picture) {
  uint32_t listed =
      picture->layer_count < mostLayersListed ? picture->layer_count : mostLayersListed;
  return (int32_t)((listed + 1) / 2) + (picture->layer_count > mostLayersListed);
}

static void putLayers(Picture *picture, int32_t y, int32_t size) {
  int32_t column = (picture->width - 2 * margin) / 2;
  uint32_t number = 0;
  for (; number < picture->layer_count && number < mostLayersListed; ++number)
    putLayerLine(picture, number, margin + (int32_t)(number % 2) * column,
                 y + ((int32_t)(number / 2) + 1) * size * 3 / 2, size);
  if (number == picture->layer_count)
    return;
  beginText(picture, "dim", margin, y + layerLines(picture) * size * 3 / 2, size);
  sambaTextFormat(picture->out, "and %u more layers", picture->layer_count - number);
  endText(picture);
}

static void draw(Picture *picture) {
  collectLayers(picture);
  layOut(picture);
  layOutGenerators(picture);
  int32_t size = picture->width / 66; /* of the text */
  picture->chip_y = margin + size * 4;
  int32_t below = picture->chip_y + picture->chip_height + size * 2;
  int32_t height = below + size * 34 / 10 + layerLines(picture) * size * 3 / 2 + margin;

  sambaTextFormat(picture->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>Section ",
                  picture->width / 10, height / 10, picture->width, height);
  putName(picture, picture->section->name);
  sambaTextAppendC(picture->out, " on ");
  putName(picture, picture->machine->name);
  sambaTextAppendC(picture->out, "</title>\n");
  putStyle(picture);
  putSymbols(picture);
  sambaTextFormat(picture->out, "<rect class=\"paper\" width=\"%d\" height=\"%d\" rx=\"120\"/>\n",
                  picture->width, height);
  putHead(picture, size);
  putChip(picture);
  putLayers(picture, putKey(picture, below, size), size);
  sambaTextAppendC(picture->out, "</svg>\n");
}

SambaStatus sambaSectionDraw(const SambaSection *section, const SambaMachine *machine,
                             SambaText *out) {
  SAMBA_RETURN_IF_ERROR(checkComplete(section, machine));
  Picture picture = {.section = section, .machine = machine, .out = out};
  draw(&picture);
  sambaArenaDestroy(&picture.arena);
  return NULL;
}
