# make demo       installs what is missing, builds, and runs the digits example
# make train      the same for LeNet, which learns the digits in C (a minute)
# make check      every test, the form of every file, the half without MLIR built by gcc;
#                 SAMBA_CHECK=full adds the tests of that half, sanitizers, more of the conformance
#                 suite, a minute of fuzzing
# make check-long everything
# make python     a wheel of the Python package, in build (README, "Python")
# make docs       the reference of operations and passes, in build/docs
# make format     formats C, C++ and Python
# make benchmark  what compiler and simulator take on this host, beside other libraries, and what
#                 the parameters of sn40l that nobody published are worth in cycles
#                 (BENCHMARK="--against BIN --full ...")
#
# Nothing is installed, and no root is needed, where everything is there already.
BUILD ?= build
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22

.PHONY: demo train check check-long python format docs benchmark

demo:
	@support/scripts/install-packages build
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) -DSAMBA_BUILD_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -- --quiet
	@examples/digits/demo.sh $(BUILD)/bin

train:
	@support/scripts/install-packages build
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) -DSAMBA_BUILD_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -- --quiet
	@$(BUILD)/bin/train_lenet examples/digits $(BUILD)/lenet

check:
	@support/scripts/install-packages check
	@$(CONFIGURE) -DSAMBA_BUILD_TESTS=ON >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -- --quiet
	@test/run-checks $(BUILD)

# Everything: hours, not minutes. What make check samples is whole here.
check-long:
	@SAMBA_CHECK=long $(MAKE) --no-print-directory check

# The package as it lies in build/python, as a wheel.
python:
	@support/scripts/install-packages python
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) -DSAMBA_BUILD_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) --target samba_python -- --quiet
	@/usr/bin/python3 tools/python/make-wheel $(BUILD)

# The reference of operations, attributes, types and passes, from TableGen.
docs:
	@support/scripts/install-packages build
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) -DSAMBA_BUILD_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) --target samba-docs -- --quiet
	@ls $(BUILD)/docs/*.md

# Formats C, C++ and Python, and says what is left to do by hand there and in Markdown.
format:
	@support/scripts/install-packages check
	@support/scripts/check-format --fix

benchmark:
	@support/scripts/install-packages check
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -- --quiet
	@/usr/bin/python3 test/benchmark/benchmark $(BUILD)/bin $(BENCHMARK)
	@[ -n "$(BENCHMARK)" ] || /usr/bin/python3 test/benchmark/model $(BUILD)/bin
	@[ -n "$(BENCHMARK)" ] || /usr/bin/python3 test/benchmark/sensitivity $(BUILD)/bin
