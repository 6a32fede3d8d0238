# SPDX-License-Identifier: Apache-2.0
# mongoreshape - GNU make. `make help` lists the targets; `make demo` and `make check` do all the set-up themselves.
# V=1 shows the commands; SAN=address|thread builds with sanitizers, separate from the plain build; CC=clang works too.
# WERROR=1 turns warnings into errors (.ci/run and lint do); HARDEN= builds without the hardening flags.
# ASSERT=1 builds with assertions, the default with sanitizers; ASSERT=0: without, even there.
# ARCH=arm64 or ARCH=amd64 builds for that machine, with the cross compiler of Debian, which make deps installs.

ARCH      :=
TRIPLE_arm64 := aarch64-linux-gnu
TRIPLE_amd64 := x86_64-linux-gnu
ifneq ($(ARCH),)
TRIPLE    := $(or $(TRIPLE_$(ARCH)),$(error ARCH=$(ARCH): arm64 and amd64 are known))
CC        := $(TRIPLE)-gcc
AR        := $(TRIPLE)-ar
STRIP     := $(TRIPLE)-strip
PKG_CONFIG := PKG_CONFIG_LIBDIR=/usr/lib/$(TRIPLE)/pkgconfig:/usr/share/pkgconfig pkg-config
endif
STRIP     ?= strip
PKG_CONFIG ?= pkg-config
CC       ?= gcc
PREFIX   ?= /usr/local
BUILD    ?= build
V        ?= 0
comma    := ,
SAN      ?=
OPT      ?= -O2 -g
ROOMS    := base doc expr io inspect cli steps plan run

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith
WERROR   ?= 0
ERRORS    = $(if $(filter 1,$(WERROR)),-Werror)
# Hardening: each flag that this compiler accepts without a warning. Sanitizers have their own checks.
HARDFLAGS := -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard
FORTIFY   := $(foreach level,2 3,-U_FORTIFY_SOURCE@-D_FORTIFY_SOURCE=$(level))
takes      = $(shell printf '\043include <stdlib.h>\nint main(void) { return 0; }\n' | \
                 $(CC) -Werror -O2 $(1) -x c - -o /dev/null 2>/dev/null && echo yes)
ifeq ($(SAN),)
HARDEN     ?= $(foreach f,$(HARDFLAGS) $(FORTIFY),$(if $(call takes,$(subst @, ,$(f))),$(subst @, ,$(f))))
HARDENLINK ?= $(foreach f,-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now,$(if $(call takes,-fPIC $(f)),$(f)))
ifeq ($(STATIC),1)
HARDENLINK := $(if $(call takes,-fPIC -static-pie),$(subst -pie,-static-pie,$(HARDENLINK)),-static)
endif
HARDEN     := $(HARDEN)
HARDENLINK := $(HARDENLINK)
endif
CSTD   := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
SANFLAGS_address := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANFLAGS_thread  := -fsanitize=thread -fno-omit-frame-pointer
SANFLAGS_fuzz    := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANFLAGS := $(SANFLAGS_$(SAN))
ASSERT   ?= $(if $(SAN),1)
ASSERTS  := $(if $(filter 1,$(ASSERT)),-DMRS_ASSERTS)
CHECKED   = $(MAKE) --no-print-directory
# The path of the sources does not appear in the output.
MAPFLAGS := -ffile-prefix-map=$(CURDIR)=.
# STATIC=1 (make static) links everything in. Debian has no static ISA-L: zlib replaces it, only slower (deflate.c).
STATIC ?= 0
ISAL   := $(if $(and $(filter 1,$(STATIC)),$(if $(wildcard $(shell $(CC) -print-file-name=libisal.a)),,no)),,-lisal)
CFLAGS += $(if $(ISAL),,-DMRSI_WITH_ZLIB)
STATICLIBS := $(if $(filter 1,$(STATIC)),-lnettle -lacl -llzma -lzstd -llz4 -lbz2)
# One build serves the programs and the shared library.
PIC    := -fPIC -fno-semantic-interposition
ALLFLAGS := $(CSTD) $(OPT) $(PIC) $(WARN) $(HARDEN) $(SANFLAGS) $(ASSERTS) -Iinclude -Icommon -Ishell-ext -pthread \
            $(CFLAGS)
LIBS   := $(HARDENLINK) -lyaml -larchive -lpcre2-8 -lxxhash -lzstd $(ISAL) $(STATICLIBS) -lz -l:libbidgcc000.a -lm \
          -pthread
# mongo-c-driver has two names: 1.x and 2.x.
BSONPC   := $(firstword $(foreach p,libbson-1.0 bson2,$(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null && echo $(p))))
MONGOCPC := $(subst bson,mongoc,$(BSONPC))
TESTLIBS := -lcmocka $(shell $(PKG_CONFIG) --libs $(BSONPC) 2>/dev/null)
TESTINC  := $(shell $(PKG_CONFIG) --cflags $(BSONPC) 2>/dev/null)
# Tests use the functions of the oldest supported libraries, which newer ones deprecate; some formats are empty at
# times.
TESTWARN := -Wno-deprecated-declarations -Wno-format-zero-length
LIVELIBS := $(shell $(PKG_CONFIG) --libs $(MONGOCPC) 2>/dev/null)
LIVEINC  := $(shell $(PKG_CONFIG) --cflags $(MONGOCPC) 2>/dev/null)
OBJ    := $(BUILD)/$(shell printf '%s' '$(CC) $(ALLFLAGS)$(filter 1,$(STATIC))' | cksum | cut -d' ' -f1)
Q      := $(if $(filter 0,$(V)),@,)
say     = $(if $(filter 0,$(V)),@printf '  %-7s %s\n' '$(1)' '$(2)',@:)

room_src = $(wildcard common/$(1)/*.c common/$(1)/*/*.c)
room_obj = $(patsubst %.c,$(OBJ)/%.o,$(call room_src,$(1)))
LIBSRC  := $(foreach r,$(filter-out cli,$(ROOMS)),$(call room_src,$(r)))
LIBOBJ  := $(patsubst %.c,$(OBJ)/%.o,$(LIBSRC))
CLISRC  := $(wildcard migrate/*.c migrate/*/*.c)
CLIOBJ  := $(patsubst %.c,$(OBJ)/%.o,$(CLISRC))
LIVESRC := $(wildcard shell-ext/live/*/*.c)
LIVEOBJ := $(patsubst %.c,$(OBJ)/%.o,$(LIVESRC))
LIVETESTOBJ := $(patsubst %.c,$(OBJ)/test/%.o,$(LIVESRC))
LIVEPROG := $(if $(LIVELIBS),$(if $(filter %/live_main.c,$(LIVESRC)),$(OBJ)/mongoreshape-live))
ROOMLIBS := $(foreach r,$(ROOMS),$(OBJ)/lib$(r).a)
group    = -Wl,--start-group $(1) -Wl,--end-group $(LIBS)
ALLROOMS = $(call group,$(ROOMLIBS))

VERSION := $(shell sed -n 's/.*MRS_VERSION "\(.*\)".*/\1/p' include/mongoreshape/version.h)
CORES   := $(shell nproc 2>/dev/null || echo 1)

.PHONY: all deps demo demo-built demo-live demo-live-built docs quick check check-built check-long unit
.PHONY: unit-programs quick-programs test-programs vectors cases twin killed weak fault fuzz fuzz-replay extension
.PHONY: host host-mutants
.PHONY: lint clang asan tsan bench bench-inspect bench-live samples facts live-cases live-fault live-seeds live-writers
.PHONY: live-mutants server
.PHONY: install install-docs uninstall deb static dist reproducible abi sbom package-test clean help
.DEFAULT_GOAL := all
.SECONDARY:

## all: the tools and their library; mongoreshape-live only if libmongoc is installed
all: $(OBJ)/mongoreshape $(LIVEPROG)
	$(if $(LIVELIBS),,@echo '  mongoreshape-live is not built: pkg-config finds no libmongoc (make deps installs it)')
	$(Q)ln -sfn $(notdir $(OBJ)) $(BUILD)/current

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(MAPFLAGS) $(ERRORS) $(if $(filter tests/%,$<),$(TESTINC) $(TESTWARN)) \
	    $(if $(filter shell-ext/live/link/%,$<),$(LIVEINC)) -MMD -MP -c $< -o $@

define room_rule
$(OBJ)/lib$(1).a: $$(call room_obj,$(1))
	$$(call say,AR,$$(notdir $$@))
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rule,$(r))))

# The page of a report: its template is embedded into the tools.
PAGEPARTS := $(sort $(wildcard common/cli/page/*))
$(OBJ)/gen/page_parts.c: $(PAGEPARTS)
	$(Q)mkdir -p $(dir $@)
	$(Q)sh common/cli/page/parts.sh common/cli/page > $@.new && mv $@.new $@
$(OBJ)/gen/page_parts.o: $(OBJ)/gen/page_parts.c
	$(call say,CC,common/cli/page)
	$(Q)$(CC) $(ALLFLAGS) $(MAPFLAGS) $(ERRORS) -c $< -o $@
$(OBJ)/libcli.a: $(OBJ)/gen/page_parts.o

$(OBJ)/mongoreshape: $(CLIOBJ) $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(CLIOBJ) $(ALLROOMS) -Wl,-Map=$@.map -o $@

# The online tool, and its test build with named stops and mutants.
$(OBJ)/test/shell-ext/live/%.o: shell-ext/live/%.c
	$(call say,CC,$< (test))
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) -DLIVE_TEST $(if $(filter shell-ext/live/link/%,$<),$(LIVEINC)) -MMD -MP -c $< -o $@
$(OBJ)/mongoreshape-live: $(LIVEOBJ) $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(LIVEOBJ) $(ALLROOMS) $(LIVELIBS) -Wl,-Map=$@.map -o $@
$(OBJ)/mongoreshape-live-test: $(LIVETESTOBJ) $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(LIVETESTOBJ) $(ALLROOMS) $(LIVELIBS) -o $@
$(OBJ)/liblive-test.a: $(filter-out %/live_main.o,$(LIVETESTOBJ))
	$(call say,AR,$(notdir $@))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(OBJ)/tests/unit/live/%.o: ALLFLAGS += -DLIVE_TEST
$(OBJ)/unit/live/t_%: $(OBJ)/tests/unit/live/t_%.o $(OBJ)/liblive-test.a $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(filter %.o,$^) $(call group,$(filter %.a,$^)) $(TESTLIBS) $(LIVELIBS) -o $@
$(OBJ)/unit/live/t_link: $(OBJ)/proxy

# The extension of a server: the core built again, position-independent and with hidden symbols, in one library that
# needs only libc and libm and exports its two entry points. Unused members of the archive are not linked.
EXTROOMS := base doc expr steps plan
EXTFLAGS  = $(ALLFLAGS) -fvisibility=hidden -ffunction-sections -fdata-sections
EXTSRC   := $(wildcard shell-ext/server/*/*.c)
EXTOBJ   := $(patsubst %.c,$(OBJ)/ext/%.o,$(EXTSRC))
EXTCORE  := $(patsubst %.c,$(OBJ)/ext/%.o,$(foreach r,$(EXTROOMS),$(call room_src,$(r))))
EXTLIBS  := -l:libyaml.a -l:libpcre2-8.a -l:libxxhash.a -l:libbidgcc000.a -lm
EXTARS   := $(patsubst -l:%,%,$(filter -l:%,$(EXTLIBS)))
EXTOK    := $(if $(filter-out /%,$(foreach a,$(EXTARS),$(shell $(CC) -print-file-name=$(a) 2>/dev/null))),,yes)
EXTLINK   = -shared -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack,--gc-sections,--exclude-libs,ALL \
            -Wl,--version-script=shell-ext/server/exports.map
$(OBJ)/ext/%.o: %.c
	$(call say,CC,$< (extension))
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(EXTFLAGS) $(ERRORS) -MMD -MP -c $< -o $@
$(OBJ)/ext/libcore.a: $(EXTCORE)
	$(call say,AR,$(notdir $@))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(OBJ)/libmongoreshape_ext.so: $(EXTOBJ) $(OBJ)/ext/libcore.a shell-ext/server/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) $(EXTFLAGS) $(EXTLINK) $(EXTOBJ) $(OBJ)/ext/libcore.a $(EXTLIBS) -o $@
## extension: libmongoreshape_ext.so, the stage $reshape for a MongoDB 9.0
extension: $(OBJ)/libmongoreshape_ext.so
	$(Q)ln -sfn $(notdir $(OBJ)) $(BUILD)/current

# The server for its tests.
HOSTOBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/host/*.c))
$(OBJ)/host: $(HOSTOBJ) $(foreach r,$(EXTROOMS),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) -rdynamic $(HOSTOBJ) $(call group,$(filter %.a,$^)) -ldl -o $@
## host: the extension in a C host that simulates the server; CASE=set/basic for one case
host: $(OBJ)/mongoreshape $(OBJ)/libmongoreshape_ext.so $(OBJ)/host $(OBJ)/casetool
	$(Q)CASETOOL=$(abspath $(OBJ))/casetool bash tests/host/run.sh $(OBJ)/mongoreshape $(CASE)

## host-mutants: the extension broken on purpose, in each way of tests/host/mutants.tsv; the host detects each
host-mutants: $(OBJ)/libmongoreshape_ext.so $(OBJ)/host
	$(Q)EXT_COMPILE='$(CC) $(EXTFLAGS)' EXT_LINK='$(CC) $(EXTFLAGS) $(EXTLINK)' EXT_LIBS='$(EXTLIBS)' \
	    bash tests/host/mutants.sh $(OBJ) '$(WORDS)'

# Unit tests: tests/unit/ROOM/t_*.c, each its own program, linked with the rooms up to ROOM only.
upto = $(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call upto,$(1),$(wordlist 2,99,$(2))))
UNITS := $(wildcard tests/unit/*/t_*.c)
unit_bin = $(patsubst tests/unit/%.c,$(OBJ)/unit/%,$(1))
define unit_rule
$(OBJ)/unit/$(1)/t_%: $(OBJ)/tests/unit/$(1)/t_%.o $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/unit/$(1)/host*.c)) \
                      $(foreach r,$(call upto,$(1),$(ROOMS)),$(OBJ)/lib$(r).a)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(dir $$@)
	$$(Q)$$(CC) $$(ALLFLAGS) $$(filter %.o,$$^) $$(call group,$$(filter %.a,$$^)) $$(TESTLIBS) -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call unit_rule,$(r))))
$(OBJ)/unit/expr/t_zone: TESTLIBS += -Wl,--wrap=access
$(OBJ)/unit/run/t_pipe $(OBJ)/unit/io/t_codec_pool: TESTLIBS += -Wl,--wrap=pthread_create
$(OBJ)/unit/run/t_stopped: TESTLIBS += -Wl,--wrap=mrs_random
$(OBJ)/unit/io/t_preallocate: TESTLIBS += -Wl,--wrap=fstatfs64,--wrap=fallocate64
$(OBJ)/unit/io/t_direct: TESTLIBS += -Wl,--wrap=fstatfs64,--wrap=pwrite64
ROOM ?= *
UNITBIN := $(filter-out $(if $(LIVELIBS),,$(OBJ)/unit/live/%),$(call unit_bin,$(wildcard tests/unit/$(ROOM)/t_*.c)))
## unit: the unit tests; ROOM=doc for one room; those of live under tests/server/with
unit: $(UNITBIN)
	$(Q)set -e; for t in $^; do case $$t in */unit/live/*) tests/server/with $$t || [ $$? -eq 77 ] ;; *) $$t ;; esac; done
unit-programs: $(UNITBIN)
	@:

VECTORS ?= /usr/share/mongoreshape/conformance
VECTOROBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/vectors/*.c))
$(OBJ)/vectors: $(VECTOROBJ) $(foreach r,$(call upto,expr,$(ROOMS)),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(VECTOROBJ) $(call group,$(filter %.a,$^)) -o $@
## vectors: the replies of a server compared with common/expr; VECTORS=DIR with its .bson files
vectors: $(OBJ)/vectors
	$(Q)$< $(VECTORS) --differences tests/vectors/differences.txt

# The contract written down twice: hand-written cases, and a naive twin over random plans and data.
TWINGEN  := $(wildcard tests/twin/gen*.c)
TWINMAIN := $(addprefix tests/twin/,main.c run.c laws.c vectors.c killed.c weak.c) $(TWINGEN)
TWINOBJ  := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(TWINMAIN),$(wildcard tests/twin/*.c)))
TWINLIBS := $(filter-out -lcmocka,$(TESTLIBS)) -lxxhash -lm
$(OBJ)/twin: $(OBJ)/tests/twin/main.o $(TWINOBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(TWINLIBS) -o $@
# The tool, killed and resumed all the time.
$(OBJ)/killed: $(CLIOBJ) $(OBJ)/tests/twin/killed.o $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) -Wl,--wrap=mrs_run,--wrap=mrs_run_back $(CLIOBJ) $(OBJ)/tests/twin/killed.o $(ALLROOMS) -o $@
# The tool with hashes of a few bits, except those whose equality counts as identity.
$(OBJ)/weak: $(CLIOBJ) $(OBJ)/tests/twin/weak.o $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) -Wl,--wrap=mrs_hash,--wrap=mrs_hash64 $(CLIOBJ) $(OBJ)/tests/twin/weak.o $(ALLROOMS) -o $@
$(OBJ)/twin-run: $(addprefix $(OBJ)/tests/twin/,run.o laws.o vectors.o) $(TWINGEN:%.c=$(OBJ)/%.o) $(TWINOBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(TWINLIBS) -o $@
$(OBJ)/casetool: $(OBJ)/tests/cases/casetool.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(TWINLIBS) -lyaml -o $@
$(OBJ)/repack: $(OBJ)/tests/cases/repack.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ -larchive -o $@
SEED  ?= 1
SEEDS ?= 2000
STEP  ?=
## twin: random plans and data through the tool and a naive twin; SEED=1 SEEDS=2000 STEP=embed
twin: $(OBJ)/mongoreshape $(OBJ)/twin-run
	$(Q)$(OBJ)/twin-run $(SEED) $(SEEDS) $(OBJ)/mongoreshape $(STEP)
## killed: the same with a tool that is killed and resumed again and again
killed: $(OBJ)/killed $(OBJ)/twin-run
	$(Q)$(OBJ)/twin-run $(SEED) $(SEEDS) $(OBJ)/killed $(STEP)
## weak: cases and random plans with a tool whose hashes are weak wherever they are only used to find
weak: $(OBJ)/weak $(OBJ)/casetool $(OBJ)/twin $(OBJ)/twin-run
	$(Q)MONGORESHAPE=$(abspath $(OBJ))/weak CASETOOL=$(abspath $(OBJ))/casetool TWIN=$(abspath $(OBJ))/twin \
	  tests/cases/run.sh $(CASE)
	$(Q)$(OBJ)/twin-run $(SEED) $(SEEDS) $(OBJ)/weak $(STEP)
## cases: the hand-written cases; CASE=embed/one for one
cases: $(OBJ)/mongoreshape $(OBJ)/casetool $(OBJ)/twin
	$(Q)MONGORESHAPE=$(abspath $(OBJ))/mongoreshape CASETOOL=$(abspath $(OBJ))/casetool TWIN=$(abspath $(OBJ))/twin \
	  SAMPLE= tests/cases/run.sh $(CASE)

# Failures on purpose: allocations, and calls of the operating system by the linker's --wrap. FAULT=--long tries every
# one.
FAULTOBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/fault/*.c))
WRAPPED  := open open64 read write pread pread64 pwrite pwrite64 copy_file_range fsync rename renameat2 ftruncate \
            ftruncate64 mkdir fstat fstat64 mkostemp mkostemp64 lseek lseek64 mmap mmap64 posix_fallocate \
            posix_fallocate64 pthread_create unlink rmdir symlink mrs_random
$(OBJ)/fault: $(FAULTOBJ) $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $(FAULTOBJ) $(addprefix -Wl$(comma)--wrap=,$(WRAPPED)) $(ALLROOMS) -o $@
FAULT ?=
## fault: allocations and calls fail one by one, runs are killed, disks are full; FAULT=--long for all of them
fault: $(OBJ)/fault $(OBJ)/mongoreshape $(if $(LIVELIBS),$(if $(filter --long,$(FAULT)),live-seeds))
	$(Q)$(OBJ)/fault $(FAULT)
## live-seeds: the online tool killed, disconnected and suspended at random, 300 times; part of fault FAULT=--long
live-seeds: all $(OBJ)/mongoreshape-live-test $(OBJ)/live-matrix $(OBJ)/proxy
	$(Q)OBJ='$(OBJ)' tests/live/matrix.sh seeds

# Fuzz targets: tests/fuzz/fz_*.c. With clang's fuzzer, and with our own main that replays the stored inputs.
FUZZBIN   := $(patsubst tests/fuzz/%.c,$(OBJ)/fuzz/%,$(wildcard tests/fuzz/fz_*.c))
REPLAYBIN := $(patsubst tests/fuzz/%.c,$(OBJ)/replay/%,$(wildcard tests/fuzz/fz_*.c))
$(OBJ)/fuzz/%: $(OBJ)/tests/fuzz/%.o $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) -fsanitize=fuzzer $(filter %.o,$^) $(ALLROOMS) $(WRAPS) -o $@
$(OBJ)/replay/%: $(OBJ)/tests/fuzz/%.o $(OBJ)/tests/fuzz/replay.o $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(filter %.o,$^) $(ALLROOMS) $(WRAPS) -o $@
$(OBJ)/fuzz/fz_checkpoint $(OBJ)/replay/fz_checkpoint: WRAPS := -Wl,--wrap=mrs_random
# The online tool without its connection and its commands: the input contains the replies of a server.
FUZZLIVE := $(filter-out $(addprefix shell-ext/live/,link/connection% commands/%),$(LIVESRC)) \
            shell-ext/live/link/connection_loopback.c
$(OBJ)/fuzz/fz_live $(OBJ)/replay/fz_live: $(patsubst %.c,$(OBJ)/%.o,$(FUZZLIVE))
# The extension and its host.
FUZZSTAGE := $(filter-out %/guest.c,$(EXTSRC)) tests/host/host_server.c
$(OBJ)/fuzz/fz_stage $(OBJ)/replay/fz_stage: $(patsubst %.c,$(OBJ)/%.o,$(FUZZSTAGE))
FUZZ ?= fz_bson
SECONDS ?= 60
## fuzz: searches for new inputs with clang; FUZZ=fz_plan SECONDS=600
fuzz:
ifeq ($(SAN),fuzz)
	$(Q)$(MAKE) $(OBJ)/fuzz/$(FUZZ)
	$(Q)mkdir -p $(BUILD)/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
	$(OBJ)/fuzz/$(FUZZ) -max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=2048 \
	    $(BUILD)/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)
else
	$(Q)$(MAKE) CC=clang SAN=fuzz fuzz
endif
## fuzz-replay: the stored inputs, each whole, truncated and damaged, through every fuzz target
fuzz-replay: $(REPLAYBIN)
	$(Q)bash tests/fuzz/replay.sh $^

# Servers: a proxy between client and server that cuts connections; the facts that the tests rely on, checked on the
# server.
MONGOC_INC = $(LIVEINC)
MONGOC_LIB = $(LIVELIBS)
$(OBJ)/proxy: $(OBJ)/tests/server/proxy.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ -o $@
$(OBJ)/tests/live/%.o: TESTINC = $(MONGOC_INC)
$(OBJ)/facts: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/live/facts*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(MONGOC_LIB) -o $@
# Cases of tests/cases on a server: the program that loads and compares them.
$(OBJ)/livetool: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/live/livetool*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(MONGOC_LIB) -o $@
$(OBJ)/ask: $(OBJ)/tests/live/ask.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(MONGOC_LIB) -o $@
$(OBJ)/live-matrix: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/live/matrix*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(MONGOC_LIB) -o $@
$(OBJ)/live-writers: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/live/writers*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $^ $(MONGOC_LIB) -o $@
WRITERS := all $(OBJ)/mongoreshape-live-test $(OBJ)/live-writers
## live-writers: writers at every stop of the online tool, and 300 swarms of them; WRITERS_SEED=1
live-writers: $(WRITERS)
	$(Q)OBJ='$(OBJ)' tests/live/writers.sh --all
## live-mutants: each mistake that can be enabled in the test build is detected by its test
live-mutants: $(WRITERS) $(OBJ)/proxy $(patsubst tests/unit/%.c,$(OBJ)/unit/%,$(wildcard tests/unit/live/t_*.c))
	$(Q)OBJ='$(OBJ)' tests/live/mutants.sh --all
## live-fault: the online tool killed, disconnected and suspended everywhere; SEED=1, SCENE=embed, WAY=quiet
live-fault: all $(OBJ)/mongoreshape-live-test $(OBJ)/live-matrix $(OBJ)/proxy
	$(Q)OBJ='$(OBJ)' SCENE='$(SCENE)' WAY='$(WAY)' tests/live/matrix.sh long
## live-cases: the cases through the online tool, in all combinations of its options; CASE=embed/one for one
live-cases: all $(OBJ)/livetool
	$(Q)OBJ='$(OBJ)' tests/live/cases.sh --all $(CASE)
## facts: checks on the server for tests the behaviour that the online tool relies on; TEST_SERVER=py|rust
facts: $(OBJ)/facts
	$(Q)OBJ='$(OBJ)' tests/live/facts.sh --show
## server: tests of the server for tests
server: $(OBJ)/proxy
	$(Q)tests/server/test.sh $<

## lint: allowed includes, banned calls, sizes, each header compiled alone in C and C++, names, docs
lint: $(ROOMLIBS)
	$(Q)CC='$(CC)' sh tests/lint/lint.sh . $(OBJ)

## clang: checks every source with clang, without compiling; WERROR=1: no warnings
clang:
	$(Q)sh tests/lint/clang.sh $(CSTD) $(WARN) $(ERRORS) $(TESTWARN) -Iinclude -Icommon -Ishell-ext -pthread $(TESTINC) \
	    $(LIVEINC)

## quick: build, unit tests that need no server, one case a step, lint: while changing the code
quick:
	$(Q)+$(CHECKED) -j$(CORES) all unit-programs quick-programs
	$(Q)+QUICK=1 $(CHECKED) PARTS='unit cases lint' check-built
quick-programs: $(OBJ)/casetool $(OBJ)/twin
	@:
## check: installs missing packages, builds, runs all tests; PARTS="cases cli" for some, LANES=1: one at a time
check: deps
	$(Q)+$(CHECKED) -j$(CORES) all unit-programs test-programs
	$(Q)+$(CHECKED) check-built
# A compiler that deps installs changes the flags and with them OBJ, so these run in a second make.
check-built:
	$(Q)MAKE='$(MAKE)' OBJ='$(OBJ)' bash tests/check.sh $(PARTS)
## check-long: the kills, faults, writers and random plans of which check runs a sample, from another SEED=N
check-long:
	$(Q)$(MAKE) --no-print-directory PARTS=long check
test-programs: $(REPLAYBIN) $(addprefix $(OBJ)/,samples operators keys vectors casetool repack twin twin-run) \
               $(addprefix $(OBJ)/,killed weak fault proxy) \
               $(if $(LIVELIBS),$(OBJ)/ask $(OBJ)/facts $(OBJ)/livetool $(OBJ)/live-matrix $(OBJ)/live-writers) \
               $(addsuffix -test,$(LIVEPROG)) $(if $(EXTOK),$(addprefix $(OBJ)/,libmongoreshape_ext.so host))
	@:
## asan, tsan: the tests under gcc's address and undefined-behaviour sanitizers, or its thread sanitizer
# A request beyond the available memory returns NULL, as from malloc: some tests need that.
asan tsan: export SAMPLE :=
asan: export ASAN_OPTIONS := allocator_may_return_null=1
asan:
	$(Q)$(MAKE) SAN=address PARTS='unit cases twin fuzz-replay fault cli host' SEEDS=200 check
tsan: export TSAN_OPTIONS := allocator_may_return_null=1
tsan:
	$(Q)$(MAKE) SAN=thread PARTS='unit cases twin host' SEEDS=100 check

## deps: installs the missing Debian or Ubuntu packages
deps:
	$(Q)ARCH='$(ARCH)' sh .ci/deps

$(OBJ)/samples: $(OBJ)/dumps/samples.o $(ROOMLIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $< $(ALLROOMS) -o $@
$(OBJ)/operators: $(OBJ)/docs/operators.o $(foreach r,$(call upto,expr,$(ROOMS)),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $< $(call group,$(filter %.a,$^)) -o $@
$(OBJ)/keys: $(OBJ)/docs/keys.o $(foreach r,$(filter-out cli,$(call upto,plan,$(ROOMS))),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) $< $(call group,$(filter %.a,$^)) -o $@
## docs: writes docs/OPERATORS.md and KEYS.md from the tables, and docs/patterns from the cases
docs: $(OBJ)/operators $(OBJ)/keys $(OBJ)/mongoreshape
	$(Q)$< > docs/OPERATORS.md
	$(Q)$(OBJ)/keys > docs/KEYS.md
	$(Q)bash docs/patterns/pages.sh $(OBJ)/mongoreshape docs/patterns
## demo: installs missing packages, builds, runs a plan over a sample dump and shows the result
demo: deps
	$(Q)$(MAKE) --no-print-directory -j$(CORES) demo-built
demo-built: all $(OBJ)/samples
	$(Q)sh dumps/demo.sh $(OBJ)/mongoreshape $(OBJ)/samples $(BUILD)/demo
## demo-live: the same while a server runs: one from PyPI, started for it, with the sample data
demo-live: deps
	$(Q)$(MAKE) --no-print-directory -j$(CORES) demo-live-built
demo-live-built: all
	$(Q)env -u MONGODB_URI tests/server/with bash dumps/demo-live.sh $(OBJ)/mongoreshape-live
## samples: writes the sample dumps in dumps/ again
samples: $(OBJ)/samples
	$(Q)$< make dumps/text dumps/sample

$(OBJ)/bench/%: bench/%.c bench/clock.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(TESTINC) $< $(TESTLIBS) -lzstd -lisal -lm -o $@
SCALE ?= 1
## bench: speed and memory against a naive program; SCALE=0.1, BENCH_LONG=1 for ten times the data too
bench: all $(addprefix $(OBJ)/bench/,gen naive measure recode machine)
	$(Q)SCALE='$(SCALE)' BENCH_LONG='$(BENCH_LONG)' bash bench/run.sh $(OBJ)/mongoreshape $(OBJ)/bench
$(OBJ)/bench/live: bench/live.c bench/clock.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALLFLAGS) $(MONGOC_INC) $< $(MONGOC_LIB) -lxxhash -o $@
## bench-inspect: inspect compared with a Python and a node script that count types and lengths of the same dump
bench-inspect: all $(addprefix $(OBJ)/bench/,gen measure)
	$(Q)SCALE='$(or $(SCALE),0.2)' bash bench/inspect.sh $(OBJ)/mongoreshape $(OBJ)/bench
$(OBJ)/bench/stage: $(OBJ)/bench/stage.o $(filter-out %/host_main.o,$(HOSTOBJ)) \
                    $(foreach r,$(EXTROOMS),$(OBJ)/lib$(r).a)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) -rdynamic $(filter %.o,$^) $(call group,$(filter %.a,$^)) -ldl -o $@
## bench-server: the stage of the extension compared with the offline tool on one thread; SCALE=0.2
bench-server: all $(OBJ)/libmongoreshape_ext.so $(OBJ)/bench/stage $(addprefix $(OBJ)/bench/,gen naive)
	$(Q)SCALE='$(or $(SCALE),0.2)' bash bench/server.sh $(OBJ)/mongoreshape $(OBJ)/libmongoreshape_ext.so $(OBJ)/bench
## bench-live: the online tool against a loop of bulks and native pipelines; SCALE=0.02 for a quick test, 1: a million
bench-live: all $(OBJ)/mongoreshape-live-test $(OBJ)/bench/live $(OBJ)/bench/measure
	$(Q)SCALE='$(SCALE)' bash bench/live.sh $(OBJ) $(OBJ)/bench

include packaging/package.mk

## clean: removes build/
clean:
	rm -rf $(BUILD)

## help: this list
help:
	@sed -n 's/^## \([^:]*\): \(.*\)/\1\t\2/p' Makefile packaging/package.mk | \
	    awk -F'\t' '{ printf "  %-20s %s\n", $$1, $$2 }'

-include $(shell [ -d $(OBJ) ] && find $(OBJ) -name '*.d')
