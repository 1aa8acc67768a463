# Builds Quadrille for any MPI library, by GNU make:
#
#   make MPICC=/path/to/mpicc          everything in C, for that MPI library; takes a C11 compiler
#   make MPICC=/path/to/mpicc check    runs it on four ranks
#   make commands                      generate, check and so on; takes C++20, fmt, CLI11 and nlohmann-json, and Z3 for proofs
#   make MPICC=/path/to/mpicc install PREFIX=/opt/quadrille    both, as far as they are built; below $(DESTDIR) if that is set
#
# MPICC='cc -Iruntime/abi' builds for every library that has MPI's own ABI, without one: all but the programs.
# Bazel builds the same from the same sources, which //install:make_test checks.
MPICC = mpicc
MPIRUN = $(patsubst %mpicc,%mpirun,$(subst mpicc.,mpirun.,$(MPICC)))
PREFIX = /usr/local
CFLAGS = -O2
CXXFLAGS = -O2
BUILD = build

# The MPI library says its name in mpi.h. Libraries made from Open MPI or MPICH say so, too. The ABI of MPI 5 has a number.
MPI := $(shell $(MPICC) -E -dM -I. runtime/execute/nodes.c 2>/dev/null \
  | sed -n 's/^.define OPEN_MPI .*/openmpi/p; s/^.define MPICH_VERSION .*/mpich/p; s/^.define MPI_ABI_VERSION [1-9].*/abi/p' | sed 1q)
ifeq ($(MPI),)
ifneq ($(filter-out clean commands,$(or $(MAKECMDGOALS),libraries)),)
$(error MPICC: '$(MPICC)' compiles for no Open MPI, MPICH or MPI's ABI; name an mpicc that does)
endif
endif

MAJOR := $(shell sed -n 's/^.define QUADRILLE_VERSION_MAJOR //p' runtime/quadrille.h)
FLAGS = -Wall -Wextra -I. -fPIC -MMD -MP
C_FLAGS = $(FLAGS) -std=c11 -D_GNU_SOURCE -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -fvisibility=hidden -ftls-model=initial-exec $(CFLAGS)
SHARED = -shared -Wl,--as-needed
LIBS = -lm -ldl -lpthread
IN = $(BUILD)/$(MPI)

# Another compiler or other flags compile everything again.
ifneq ($(file <$(IN)/flags),$(MPICC) $(CFLAGS))
$(shell mkdir -p $(IN))$(file >$(IN)/flags,$(MPICC) $(CFLAGS))
endif

objects = $(patsubst %,$(IN)/%.o,$(basename $(1)))
APART := $(addprefix preload/,device.c predict.c race.c report_text.c rules.c schedules.c settings.c)
RUNTIME := $(IN)/runtime.o
RULES := $(call objects,$(APART) universal.c)
CORE := $(IN)/core.o $(RULES)
LIBRARY := $(IN)/libquadrille_$(MPI)
PRELOAD := $(IN)/libquadrille_preload_$(MPI).so
CORE_LIBRARY := $(IN)/quadrille/libquadrille_preload_$(MPI)_core.so
TOOLS := $(if $(findstring runtime/abi,$(MPICC)),,$(addprefix $(IN)/,calibrate doctor run tune))

libraries: $(LIBRARY).a $(LIBRARY).so $(PRELOAD) $(CORE_LIBRARY) $(TOOLS)

$(IN)/%.o: %.c $(IN)/flags
	@mkdir -p $(@D)
	$(MPICC) $(C_FLAGS) -c $< -o $@

# These files are compiled as one, which takes less time.
$(IN)/runtime.c: $(wildcard runtime/*/*.c)
$(IN)/core.c: $(filter-out preload/front.c $(APART),$(wildcard preload/*.c))
$(IN)/runtime.c $(IN)/core.c: $(IN)/flags
	@printf '#include "%s"\n' $(filter %.c,$^) >$@
$(RUNTIME) $(IN)/core.o: %.o: %.c
	$(MPICC) $(C_FLAGS) -c $< -o $@

# The table of the schedules from which the preload library chooses.
$(IN)/universal.o: $(BUILD)/universal.c $(IN)/flags
	@mkdir -p $(@D)
	$(MPICC) $(C_FLAGS) -c $< -o $@
$(BUILD)/universal.c: emitted/universal_table.sh emitted/schedules/universal.base64
	@mkdir -p $(@D)
	$^ >$@.new && mv $@.new $@

$(LIBRARY).a: $(RUNTIME)
	rm -f $@
	$(AR) qcs $@ $^
$(LIBRARY).so: $(RUNTIME)
	$(MPICC) $(SHARED) -Wl,-soname,$(@F).$(MAJOR) $(LDFLAGS) $^ $(LIBS) -o $@

# The compiler alone links these two. They need no MPI library, since the program brings one.
$(PRELOAD): $(call objects,preload/front.c)
	$(CC) $(SHARED) -Wl,-soname,$(@F).$(MAJOR) -Wl,--version-script,preload/exports.map $(LDFLAGS) $^ $(LIBS) -o $@
$(CORE_LIBRARY): $(CORE) $(RUNTIME)
	@mkdir -p $(@D)
	$(CC) $(SHARED) -Wl,--version-script,preload/exports.map $(LDFLAGS) $^ $(LIBS) -o $@
$(call objects,preload/front.c): C_FLAGS += -DPRELOAD_$(shell echo $(MPI) | tr a-z A-Z)

$(IN)/calibrate: $(call objects,tools/calibrate.c cli/quantity.c)
$(IN)/doctor: $(call objects,$(wildcard tools/doctor*.c)) $(RULES)
$(IN)/run: $(call objects,$(wildcard tools/run*.c) cli/quantity.c)
$(IN)/tune: $(call objects,tools/tune.c cli/quantity.c) $(CORE)
$(TOOLS): $(LIBRARY).a
	$(MPICC) $(LDFLAGS) $(filter %.o,$^) $< $(LIBS) -o $@

# ---- Commands in C++

CXX_FLAGS = $(FLAGS) -std=c++20 $(CXXFLAGS)
BIN = $(BUILD)/commands
CPP = $(BIN)/objects
HAS_Z3 := $(shell echo | $(CXX) -E -xc++ -include z3++.h - >/dev/null 2>&1 && echo yes)
ifndef HAS_Z3
FLAGS += -Iverifier/prove/without_z3
endif
MAINS = generator/main.cc trace/main.cc verifier/main.cc verifier/certify.cc preload/report_command.cc preload/rules_command.cc
PROGRAMS := $(addprefix $(BIN)/,generator report rules trace verifier)
ROOMS = cli generator schedule simulate trace verifier verifier/prove view
MADE := $(addprefix $(CPP)/,generator/program_texts.cc generator/proof_list.cc generator/runtime_texts.cc generator/universal_names.cc view/assets.cc)
COMMON := $(patsubst %,$(CPP)/%.o,$(basename $(filter-out $(MAINS),$(wildcard $(addsuffix /*.cc,$(ROOMS)))) \
  $(wildcard cli/*.c runtime/plan/*.c runtime/program/*.c) $(addprefix preload/,predict.c report_text.c rules.c schedules.c settings.c))) \
  $(CPP)/universal.o $(MADE:.cc=.o)

commands: $(PROGRAMS)

$(CPP)/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) $(CXX_FLAGS) -c $< -o $@
$(CPP)/%.o: $(CPP)/%.cc
	$(CXX) $(CXX_FLAGS) -c $< -o $@
$(CPP)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -c $< -o $@
$(CPP)/universal.o: $(BUILD)/universal.c
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -c $< -o $@
$(CPP)/common.a: $(COMMON)
	rm -f $@
	$(AR) qcs $@ $^

# Sources that scripts make.
write = @mkdir -p $(@D) && echo 'makes $@' && $(1) >$@.new && mv $@.new $@
$(CPP)/generator/program_texts.cc: generator/embed_programs.sh $(wildcard generator/lemmas/* generator/programs/*)
	$(call write,$^)
$(CPP)/generator/proof_list.cc: generator/embed_texts.sh emitted/proofs.txt
	$(call write,$< kProofList=$(word 2,$^))
$(CPP)/generator/runtime_texts.cc: generator/embed_texts.sh runtime/quadrille.h $(CPP)/quadrille.c
	$(call write,$< kRuntimeHeader=$(word 2,$^) kRuntimeSource=$(word 3,$^))
$(CPP)/quadrille.c: runtime/amalgamate.awk $(wildcard runtime/*/*.[ch])
	$(call write,awk -f $< runtime/*/*.c)
$(CPP)/generator/universal_names.cc: generator/universal_names.sh emitted/schedules/universal.base64
	$(call write,base64 -d $(word 2,$^) | tar -tz | sed -n 's|^universal/\([^.]*\).\(.*\).qs$$|\1 \2|p' | $<)
$(CPP)/view/assets.cc: view/embed.sh $(addprefix view/,page.css page.html page.js palette.css)
	$(call write,$^)

# The programs that emitted/proofs.txt lists count as proven. So the build asks no solver.
$(CPP)/proofs: $(BIN)/generator
	mkdir -p $@ && $< proofs --out $@
$(CPP)/verifier/proven.cc: $(BIN)/certify $(CPP)/proofs emitted/proofs.txt
	sed '/^#/d; s/ cvc5.*//' emitted/proofs.txt >$(CPP)/lines
	LC_ALL=C; $< --write $@ $(CPP)/list $(CPP)/lines $(CPP)/proofs/*.proof

$(BIN)/generator: $(CPP)/generator/main.o
$(BIN)/trace: $(CPP)/trace/main.o
$(BIN)/certify: $(CPP)/verifier/certify.o
$(BIN)/verifier: $(CPP)/verifier/main.o $(CPP)/verifier/proven.o
$(BIN)/report $(BIN)/rules: $(BIN)/%: $(CPP)/preload/%_command.o
$(PROGRAMS) $(BIN)/certify: $(CPP)/common.a
	$(CXX) $(LDFLAGS) $(filter %.o,$^) $< -lfmt $(if $(HAS_Z3),-lz3) $(LIBS) -o $@

# ---- Tests and installation

check: libraries
	@base64 -d emitted/schedules/universal.base64 | tar -xzO universal/alltoall.factor.qs >$(IN)/factor.qs
	$(MPIRUN) -n 4 $(IN)/run $(IN)/factor.qs --repetitions 2 >$(IN)/said
	@cat $(IN)/said && grep -q 'every byte is right' $(IN)/said
	$(MPICC) -std=c11 examples/closure/closure.c -o $(IN)/closure
	$(MPIRUN) -n 4 env LD_PRELOAD=$(PRELOAD) QUADRILLE_ALLTOALLV=linear QUADRILLE_REPORT=$(IN)/report $(IN)/closure >$(IN)/said
	@cat $(IN)/said $(IN)/report && grep -q ' 0 wrong' $(IN)/said && grep -q '^alltoallv .* linear ' $(IN)/report

# What is installed, as PLACE=FILE.
listed = $(shell awk '/ \/\// {for (i = 2; i <= NF; i++) {path = substr($$i, 3); sub(":", "/", path); sub("^/", "", path); \
  print $$1 ($$1 ~ /\/$$/ ? path : "") "=" path}}' install/files.bzl)
TREE = $(listed) lib/libquadrille_$(MPI).a=$(LIBRARY).a lib/libquadrille_$(MPI).so.VERSION=$(LIBRARY).so \
  lib/libquadrille_preload_$(MPI).so.VERSION=$(PRELOAD) lib/quadrille/$(notdir $(CORE_LIBRARY))=$(CORE_LIBRARY) \
  $(foreach file,$(wildcard install/quadrille-$(MPI).pc),lib/pkgconfig/$(notdir $(file))=$(IN)/quadrille.pc) $(foreach tool,$(TOOLS),lib/quadrille/$(notdir $(tool))-$(MPI)=$(tool)) \
  $(foreach program,$(wildcard $(PROGRAMS)),lib/quadrille/$(notdir $(program))=$(program)) \
  share/quadrille=emitted/schedules/universal.base64 $(addprefix share/quadrille/proofs=,$(wildcard $(CPP)/proofs)) \
  $(if $(SCHEMAS),'share/quadrille/schemas=$(SCHEMAS)')

# The JSON Schemas, if there is Python.
SCHEMAS := $(if $(shell command -v python3),$(patsubst cli/%.json,$(BUILD)/%.schema.json,$(filter-out %/shared.json,$(wildcard cli/schemas/*.json))))
$(BUILD)/schemas/%.schema.json: cli/schemas/complete.py cli/schemas/shared.json cli/schemas/%.json
	@mkdir -p $(@D)
	python3 $^ >$@

# An MPI compiler links its MPI library. So the file for pkg-config need not name one.
install: libraries $(SCHEMAS)
	sed '/^Requires/d' $(or $(wildcard install/quadrille-$(MPI).pc),/dev/null) >$(IN)/quadrille.pc
	install/tree.sh $(IN)/tree.tar $(TREE)
	install/install.sh $(IN)/tree.tar --prefix '$(PREFIX)'

clean:
	rm -rf $(BUILD)

.DELETE_ON_ERROR:
.PHONY: libraries commands check install clean
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
