# SPDX-License-Identifier: Apache-2.0
# package.mk - what leaves this folder: installation, shared library, packages, tarball. Part of the Makefile.

DEST    := $(DESTDIR)$(PREFIX)
LIBDIR  ?= lib
# Where zsh looks: Debian has a folder of its own for packages.
ZSHDIR  ?= share/zsh/site-functions
LIBDEST := $(DEST)/$(LIBDIR)
# What breaks the interface changes the second number, before 1.0, or the first.
SONAME  := libmongoreshape.so.$(shell echo '$(VERSION)' | sed 's/^0\.\([0-9]*\).*/0.\1/; t; s/\..*//')
SHARED  := $(OBJ)/$(SONAME)
PRIVATE := $(filter-out $(HARDENLINK) -pthread,$(LIBS))

$(OBJ)/libmongoreshape.a: $(LIBOBJ)
	$(call say,AR,$(notdir $@))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# Of the shared library only mrs_* is seen, what the headers declare; everything else is bound inside.
$(SHARED): $(LIBOBJ) packaging/libmongoreshape.map
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-Bsymbolic-functions -Wl,-z,defs \
	    -Wl,--version-script=packaging/libmongoreshape.map $(filter %.o,$^) $(filter-out -pie,$(LIBS)) -o $@
	$(Q)ln -sf $(SONAME) $(OBJ)/libmongoreshape.so

## install, uninstall: tools, library, headers, manuals, completions; DESTDIR, PREFIX (/usr/local), LIBDIR (lib)
install: all $(OBJ)/libmongoreshape.a $(SHARED)
	install -d $(DEST)/bin $(LIBDEST)/pkgconfig $(DEST)/include/mongoreshape $(DEST)/share/man/man1 $(DEST)/share/man/man5
	install -d $(DEST)/share/bash-completion/completions $(DEST)/$(ZSHDIR)
	install -d $(DEST)/share/fish/vendor_completions.d $(DEST)/share/mongoreshape
	install -m 755 $(OBJ)/mongoreshape $(LIVEPROG) $(DEST)/bin/
	install -m 644 $(OBJ)/libmongoreshape.a $(SHARED) $(LIBDEST)/
	ln -sf $(SONAME) $(LIBDEST)/libmongoreshape.so
	install -m 644 $(filter-out %/cli.h,$(wildcard include/mongoreshape/*.h)) $(DEST)/include/mongoreshape/
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/$(LIBDIR)' 'Name: mongoreshape' \
	    'Description: moves MongoDB data between schema designs' 'Version: $(VERSION)' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${libdir} -lmongoreshape' 'Libs.private: $(PRIVATE) -pthread' \
	    > $(LIBDEST)/pkgconfig/mongoreshape.pc
	$(OBJ)/mongoreshape help --man plan > $(DEST)/share/man/man5/mongoreshape-plan.5
	$(OBJ)/mongoreshape explain --schema > $(DEST)/share/mongoreshape/plan.schema.json
	set -e; for t in mongoreshape $(notdir $(LIVEPROG)); do \
	    $(OBJ)/$$t help --man > $(DEST)/share/man/man1/$$t.1; \
	    $(OBJ)/$$t help --completion bash > $(DEST)/share/bash-completion/completions/$$t; \
	    $(OBJ)/$$t help --completion zsh > $(DEST)/$(ZSHDIR)/_$$t; \
	    $(OBJ)/$$t help --completion fish > $(DEST)/share/fish/vendor_completions.d/$$t.fish; \
	done
# The pages, and whatever they link to, where they look for it; nothing of it is asked for by `install`.
DOCDEST := $(DEST)/share/doc/mongoreshape
PAGES   := README.md CHANGES CONTRIBUTING.md LICENSE NOTICE RELEASING.md SECURITY.md bench/README.md tests/README.md \
           include/mongoreshape/README.md shell-ext/live/DESIGN.md $(wildcard docs/*.md docs/patterns/*)
## install-docs: the pages and the sample dumps, in share/doc/mongoreshape
install-docs:
	set -e; for page in $(PAGES) $$(find dumps -type f ! -name '*.c' ! -name '*.sh'); do \
	    install -D -m 644 "$$page" "$(DOCDEST)/$$page"; \
	done
uninstall:
	for t in mongoreshape mongoreshape-live; do \
	    rm -f $(DEST)/bin/$$t $(DEST)/share/man/man1/$$t.1 $(DEST)/share/bash-completion/completions/$$t; \
	    rm -f $(DEST)/$(ZSHDIR)/_$$t $(DEST)/share/fish/vendor_completions.d/$$t.fish; \
	done
	rm -f $(LIBDEST)/libmongoreshape.a $(LIBDEST)/libmongoreshape.so $(LIBDEST)/$(SONAME)
	rm -f $(LIBDEST)/pkgconfig/mongoreshape.pc $(DEST)/share/man/man5/mongoreshape-plan.5
	rm -rf $(DEST)/include/mongoreshape $(DEST)/share/mongoreshape $(DOCDEST)

## abi: the symbols of the shared library are those of packaging/symbols.txt; WRITE=1 writes that
abi: $(SHARED)
	$(Q)sh packaging/abi.sh $(SHARED) $(if $(WRITE),--write,--whole)
MACHINE  = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
## static: build/mongoreshape-VERSION-MACHINE, one file that needs nothing; installs missing packages
static:
	$(Q)STATIC=1 ARCH='$(ARCH)' sh .ci/deps
	$(Q)$(MAKE) --no-print-directory STATIC=1 static-program
static-program: $(OBJ)/mongoreshape
	$(Q)$(STRIP) -o $(BUILD)/mongoreshape-$(VERSION)-$(MACHINE) $<
	@echo '  $(BUILD)/mongoreshape-$(VERSION)-$(MACHINE)'
## dist: a tarball of the committed sources, the same bytes every time, and its .sha256
NAME := mongoreshape-$(VERSION)
dist:
	mkdir -p $(BUILD)
	git -c tar.umask=022 archive --format=tar --prefix=$(NAME)/ HEAD | gzip -9n > $(BUILD)/$(NAME).tar.gz
	cd $(BUILD) && sha256sum $(NAME).tar.gz > $(NAME).tar.gz.sha256
## deb: Debian packages of the committed sources in build/deb; needs debhelper
deb: dist
	$(Q)sh packaging/deb.sh $(BUILD) $(NAME) $(VERSION)
## rpm: RPM packages of the committed sources in build/rpm; needs rpmbuild (its dependencies are not asked for)
rpm: dist
	rm -rf $(BUILD)/rpm
	rpmbuild -bb --quiet --nodeps --define '_topdir $(abspath $(BUILD))/rpm' --define 'mrs_version $(VERSION)' \
	    --define '_sourcedir $(abspath $(BUILD))' packaging/mongoreshape.spec
	@find $(BUILD)/rpm/RPMS -name '*.rpm'
## reproducible: two builds of the committed sources, in two folders, are the same bytes
reproducible:
	$(Q)sh packaging/reproducible.sh $(BUILD)
## sbom: build/mongoreshape-VERSION.spdx.json, what is really linked into the tools; STATIC=1: into the static one
LISTED  := $(OBJ)/mongoreshape $(if $(filter 1,$(STATIC)),,$(LIVEPROG))
LIST    := $(BUILD)/$(NAME)$(if $(filter 1,$(STATIC)),-static).spdx.json
sbom: $(LISTED)
	$(Q)python3 packaging/sbom.py $(VERSION) $(LISTED) > $(LIST)
	@echo '  $(LIST)'
## package-test: as root: what make deb and static made, installed, upgraded and removed in a fresh system
package-test:
	$(Q)bash packaging/test.sh $(BUILD) $(VERSION)

.PHONY: static-program rpm
-include $(shell [ -d $(OBJ)/pic ] && find $(OBJ)/pic -name '*.d')
