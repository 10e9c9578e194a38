#include "Bands.h"

/* Reads how many blocks, including this one, have nothing more in the band: `size` bits after the symbol for this. */
static inline uint32_t ended_blocks(wi_bits *b, int size) {
    uint32_t count = (uint32_t)1 << size | (uint32_t)(b->bits >> 1 >> (63 - size));
    wi_bits_drop(b, size);
    return count;
}

/* Reads a block's coefficients for the first time. Returns 0 if more bytes must arrive first: the block must then be read again
   from its beginning. */
static inline __attribute__((always_inline)) int
read_block(wi_band *band, wi_scan_bytes *bytes, wi_bits *b, const wi_blocks *blocks, int16_t *values, uint64_t *nonzero) {
    uint64_t there = *nonzero;
    for (int place = band->first; place <= band->last; place++) {
        if (!wi_bits_fill(b, bytes)) return 0;
        int symbol = wi_huffman_symbol(band->code, b), size = symbol & 15, zeros = symbol >> 4;
        if (size == 0 && zeros < 15) {
            band->ended_blocks = ended_blocks(b, zeros);
            break;
        }
        place += zeros;
        if (size == 0) continue;
        int16_t value = (int16_t)((uint32_t)wi_bits_value(b, size) << band->low);
        /* Damaged data may go beyond the last. */
        int at = place < DCTSIZE2 ? place : DCTSIZE2 - 1;
        uint64_t bit = UINT64_C(1) << at;
        there = value ? there | bit : there & ~bit;
        if (blocks->kept & bit) values[blocks->slots[at]] = value;
    }
    *nonzero = there;
    return 1;
}

static uint32_t
read_first(wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count) {
    wi_bits b = reader->bits;
    uint32_t done = 0;
    while (done < count && b.count >= 0) {
        if (band->ended_blocks > 0) {
            uint32_t ended = band->ended_blocks < count - done ? band->ended_blocks : count - done;
            band->ended_blocks -= ended;
            done += ended;
            continue;
        }
        size_t block = at + done;
        wi_bits after = b;
        int16_t *values = blocks->values + block * (size_t)blocks->value_count;
        if (!read_block(band, &reader->bytes, &after, blocks, values, &blocks->nonzero[block])) break;
        if (band->ended_blocks > 0) band->ended_blocks--;
        b = after;
        done++;
    }
    reader->bits = b;
    return done;
}

/* The set of coefficients from place `from` on, and that of coefficients before place `to`. */
static inline uint64_t places_from(int from) { return from < 64 ? ~UINT64_C(0) << from : 0; }
static inline uint64_t places_to(int to) { return ~places_from(to); }

/* Adds a further bit to those of the coefficients `which` that are kept. `bits` begins with the bits for all of `which`. */
static inline __attribute__((always_inline)) void
correct_kept(const wi_blocks *blocks, uint64_t which, int low, uint64_t bits, int16_t *values) {
    for (uint64_t rest = which & blocks->kept; rest; rest &= rest - 1) {
        int place = __builtin_ctzll(rest), one = 1 << low;
        int16_t *value = &values[blocks->slots[place]];
        int is_set = (bits << __builtin_popcountll(which & places_to(place))) >> 63 != 0;
        if (is_set && !(*value & one)) *value = (int16_t)(*value + (*value >= 0 ? one : -one));
    }
}

/* Like `correct`, if not all bits are available at once. */
static __attribute__((noinline)) int correct_slowly(
    const wi_blocks *blocks, uint64_t which, int low, wi_scan_bytes *bytes, wi_bits before, wi_bits *after, int16_t *values) {
    wi_bits b = before;
    while (which) {
        if (!wi_bits_fill(&b, bytes)) return 0;
        /* As many coefficients as have their bits available for sure, or made up. */
        uint64_t now = which;
        int count = __builtin_popcountll(now);
        for (; count > WI_LONGEST_SYMBOL; count--) now &= ~(UINT64_C(1) << (63 - __builtin_clzll(now)));
        correct_kept(blocks, now, low, b.bits, values);
        wi_bits_drop(&b, count);
        which &= ~now;
    }
    *after = b;
    return 1;
}

/* Drops `passed` bits, and reads a further bit of each of the coefficients `which`. Returns 0 if more bytes must arrive first. */
static inline __attribute__((always_inline)) int correct(
    const wi_blocks *blocks, uint64_t which, int low, wi_scan_bytes *bytes, wi_bits *b, int passed, int16_t *values) {
    int count = passed + __builtin_popcountll(which);
    if (__builtin_expect(count > b->count, 0)) {
        wi_bits after;
        wi_bits_drop(b, passed);
        if (!correct_slowly(blocks, which, low, bytes, *b, &after, values)) return 0;
        b->next = after.next;
        b->bits = after.bits;
        b->count = after.count;
        return 1;
    }
    if (which & blocks->kept) correct_kept(blocks, which, low, b->bits << passed, values);
    wi_bits_drop(b, count);
    return 1;
}

/* The place of the bit of `set` that has `before` others below it; 64 if there is none. */
typedef int select_function(uint64_t set, int before);

/* Reads a further bit of a block's coefficients. Returns 0 if more bytes must arrive first: the block must then be read again from
   its beginning. Values that already have the bit are not changed again. */
static inline __attribute__((always_inline)) int refine_block(
    wi_band *band, wi_scan_bytes *bytes, wi_bits *b, const wi_blocks *blocks, int16_t *values, uint64_t *nonzero,
    select_function *const select) {
    const uint64_t places = places_from(band->first) & places_to(band->last + 1);
    const int low = band->low, last = band->last;
    uint64_t there = *nonzero;
    uint32_t ended = band->ended_blocks;
    int place = band->first;
    while (ended == 0 && place <= last) {
        if (!wi_bits_fill(b, bytes)) return 0;
        uint32_t entry = wi_huffman_look(band->code, b->bits);
        int length = (int)(entry >> 8), is_new = (entry & 15) != 0, skipped = entry >> 4 & 15;
        if (!is_new && skipped < 15) {
            wi_bits_drop(b, length);
            ended = ended_blocks(b, skipped);
            break;
        }
        int16_t value = (int16_t)((b->bits << length) >> 63 ? 1 << low : -(1 << low));
        /* The new value is for a place that was zero, after `skipped` others that were zero and remain so. */
        int at = select(places & ~there & places_from(place), skipped);
        at = at <= last ? at : last + 1;
        uint64_t passed = there & places & places_from(place) & places_to(at);
        if (!correct(blocks, passed, low, bytes, b, length + is_new, values)) return 0;
        place = at + 1;
        /* Damaged data may go beyond the last. */
        at = at < DCTSIZE2 ? at : DCTSIZE2 - 1;
        uint64_t bit = (uint64_t)is_new << at;
        there |= bit;
        if (blocks->kept & bit) values[blocks->slots[at]] = value;
    }
    if (ended) {
        if (!correct(blocks, there & places & places_from(place), low, bytes, b, 0, values)) return 0;
        ended--;
    }
    *nonzero = there;
    band->ended_blocks = ended;
    return 1;
}

static inline __attribute__((always_inline)) uint32_t refine(
    wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count,
    select_function *const select) {
    wi_bits b = reader->bits;
    uint32_t done = 0;
    for (; done < count && b.count >= 0; done++) {
        size_t block = at + done;
        wi_bits after = b;
        int16_t *values = blocks->values + block * (size_t)blocks->value_count;
        if (!refine_block(band, &reader->bytes, &after, blocks, values, &blocks->nonzero[block], select)) break;
        b = after;
    }
    reader->bits = b;
    return done;
}

static inline __attribute__((always_inline)) int select_anywhere(uint64_t set, int before) {
    for (; before && set; before--) set &= set - 1;
    return set ? __builtin_ctzll(set) : 64;
}

static uint32_t
refine_anywhere(wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count) {
    return refine(band, reader, blocks, at, count, select_anywhere);
}

#if defined(__x86_64__)
static inline __attribute__((always_inline, target("bmi,bmi2,popcnt"))) int select_bmi2(uint64_t set, int before) {
    uint64_t bit = __builtin_ia32_pdep_di(UINT64_C(1) << before, set);
    return bit ? __builtin_ctzll(bit) : 64;
}

__attribute__((target("bmi,bmi2,popcnt"))) static uint32_t
refine_bmi2(wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count) {
    return refine(band, reader, blocks, at, count, select_bmi2);
}

static int has_bmi2(void) {
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#endif

wi_band wi_band_begin(int first, int last, int low, int is_refining, const wi_huffman *code) {
    wi_band band = {.first = first, .last = last, .low = low, .code = code, .read = is_refining ? refine_anywhere : read_first};
#if defined(__x86_64__)
    if (is_refining && has_bmi2()) band.read = refine_bmi2;
#endif
    return band;
}
