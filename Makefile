# mongoreshape - GNU make. `make help` lists the targets; `make demo` and `make check` do all the set-up themselves.
# V=1 shows the commands; SAN=address|thread builds with sanitizers beside the plain build; CC=clang works too.

CC       ?= gcc
PREFIX   ?= /usr/local
BUILD    ?= build
V        ?= 0
SAN      ?=
OPT      ?= -O2 -g
ROOMS    := base doc expr io steps plan run

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith -Werror
CSTD   := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
SANFLAGS_address := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANFLAGS_thread  := -fsanitize=thread -fno-omit-frame-pointer
SANFLAGS := $(SANFLAGS_$(SAN))
ALLFLAGS := $(CSTD) $(OPT) $(WARN) $(SANFLAGS) -Iinclude -pthread $(CFLAGS)
LIBS   := -lyaml -lpcre2-8 -lxxhash -lzstd -lisal -lz -l:libbidgcc000.a -lm -pthread
TESTLIBS := -lcmocka $(shell pkg-config --libs libbson-1.0 2>/dev/null)
TESTINC  := $(shell pkg-config --cflags libbson-1.0 2>/dev/null)
OBJ    := $(BUILD)/$(shell printf '%s' '$(CC) $(ALLFLAGS)' | cksum | cut -d' ' -f1)
Q      := $(if $(filter 0,$(V)),@,)
say     = $(if $(filter 0,$(V)),@printf '  %-7s %s\n' '$(1)' '$(2)',@:)

room_src = $(wildcard common/$(1)/*.c)
room_obj = $(patsubst %.c,$(OBJ)/%.o,$(call room_src,$(1)))
LIBSRC  := $(foreach r,$(ROOMS),$(call room_src,$(r)))
LIBOBJ  := $(patsubst %.c,$(OBJ)/%.o,$(LIBSRC))
CLISRC  := $(wildcard migrate/*.c)
CLIOBJ  := $(patsubst %.c,$(OBJ)/%.o,$(CLISRC))
ROOMLIBS := $(foreach r,$(ROOMS),$(OBJ)/lib$(r).a)

.PHONY: all deps demo check unit lint bench vectors fuzz fuzz-replay fault asan tsan install uninstall dist clean help cases twin
.DEFAULT_GOAL := all
.SECONDARY:

## all: the tool, and the library it is made of
all: $(OBJ)/mongoreshape
	$(Q)ln -sfn $(notdir $(OBJ)) $(BUILD)/current

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(if $(filter tests/%,$<),$(TESTINC)) -MMD -MP -c $< -o $@

define room_rule
$(OBJ)/lib$(1).a: $$(call room_obj,$(1))
	$$(call say,AR,$$(notdir $$@))
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rule,$(r))))

$(OBJ)/mongoreshape: $(CLIOBJ) $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(CLIOBJ) -Wl,--start-group $(ROOMLIBS) -Wl,--end-group $(LIBS) -o $@

# Unit tests: tests/unit/ROOM/t_*.c, each a program of its own, linked with the rooms up to ROOM only (ROOMS is in that order).
upto = $(if $(filter $(1),$(firstword $(2))),$(firstword $(2)),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
UNITS := $(wildcard tests/unit/*/t_*.c)
unit_bin = $(patsubst tests/unit/%.c,$(OBJ)/unit/%,$(1))
define unit_rule
$(OBJ)/unit/$(1)/t_%: $(OBJ)/tests/unit/$(1)/t_%.o $(foreach r,$(call upto,$(1),$(ROOMS)),$(OBJ)/lib$(r).a)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(dir $$@)
	$$(Q)$$(CC) $$(ALLFLAGS) $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $$(LIBS) $$(TESTLIBS) -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call unit_rule,$(r))))
ROOM ?= *
## unit: the unit tests; ROOM=doc for one room
unit: $(call unit_bin,$(wildcard tests/unit/$(ROOM)/t_*.c))
	$(Q)set -e; for t in $^; do $$t; done

VECTORS ?= /usr/share/mongoreshape/conformance
VECTOROBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/vectors/*.c))
$(OBJ)/vectors: $(VECTOROBJ) $(foreach r,$(call upto,expr,$(ROOMS)),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(VECTOROBJ) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@
## vectors: what a server answered against common/expr; VECTORS=DIR with expressions.bson, queries.bson, sort.bson
vectors: $(OBJ)/vectors
	$(Q)$< $(VECTORS) --differences tests/vectors/differences.txt

## clean: removes build/
clean:
	rm -rf $(BUILD)

-include $(shell [ -d $(OBJ) ] && find $(OBJ) -name '*.d')
