use super::*;

/// A recipe that prints the output of the makefile's first code.
const OUTPUT: &str = "castellan_unknown_value_0=$(rm -rf y\n)\necho ${castellan_unknown_value_0}";

fn check(text: &str, target: Option<&str>, expected: &[&str]) {
    let wanted = Wanted { verb: "run", name: target, argv: &[], env: &[], is_shown: false, directory: "/w" };
    let script = script(text, &wanted);
    let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
    let env = script.env.iter().map(|(name, value)| format!("env {name}={value}"));
    let found: Vec<String> = script.texts.iter().cloned().chain(env).chain(holes).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn recipes_of_a_target_and_of_what_it_needs() {
    check("all: b c\n\techo all\nb:\n\t@echo b\nc: ; -rm -f x\n", None, &["echo all", "rm -f x", "echo b"]);
    check(".PHONY: x\nx:\n\techo x\ny:\n\techo y\n", None, &["echo x"]);
    check("x:\n\techo x\ny:\n\techo y\n", Some("y"), &["echo y"]);
    check("%.o: %.c\n\tcc -c $< -o $@\n", Some("a.o"), &["cc -c a.c -o a.o"]);
    check("a b: c\n\techo $@ $^\nc:\n", Some("b"), &["echo b c"]);
    check("x:\n\techo a \\\n\t  b\n", None, &["echo a \\\n  b"]);
    check("x: y\ny: x\n\techo y\n", None, &["echo y"]);
    check("$(shell echo a)\n", None, &["echo a", "hole language ${castellan_unknown_value_0}"]);
    check("$(eval all: ; echo a)\n", None, &["hole language $(eval all: ; echo a)"]);
    check("x: $(shell echo a; echo b) ; echo c\n", None, &["echo a; echo b", "echo c"]);
}

#[test]
fn variables_are_expanded_and_what_is_not_known_stays_unknown() {
    check("D = out\nclean:\n\t$(RM) -r $(D)/x $${HOME}\n", Some("clean"), &["rm -f -r out/x ${HOME}"]);
    check("A := r\nA += m\nx:\n\t$(A)\n", None, &["r m"]);
    check("A ?= 1\nA ?= 2\nx:\n\techo ${A}\n", None, &["echo 1"]);
    check("x:\n\techo $(wildcard *.c)\n", None, &["echo *.c"]);
    check("ifdef X\nA=1\nelse\nA=2\nendif\nx:\n\techo $(A)\n", None, &["echo 1", "echo 2"]);
    check("A = $(A)\nx:\n\techo $(A)\n", None, &["echo ${castellan_unknown_value}", "hole budget $(A)"]);
    check("V := $(shell rm -rf y)\nx:\n\techo $(V)\n", None, &["rm -rf y", OUTPUT]);
    check("V != rm -rf y\nx:\n\techo\n", None, &["rm -rf y", "echo"]);
    check("x: V = 1\nx:\n\techo $(V)\n", None, &["echo ", "echo 1"]);
}

#[test]
fn what_make_runs_itself_is_found_wherever_it_stands() {
    let x = "x:\n\techo\n";
    check(&format!("A := $(shell rm -rf y)\n{x}"), None, &["rm -rf y", "echo"]);
    check(&format!("ifeq ($(shell rm -rf y),)\nendif\n{x}"), None, &["rm -rf y", "echo"]);
    let unknown = "echo ${castellan_unknown_value}";
    check("define f\n$(shell rm -rf y)\nendef\nx:\n\techo $(call f)\n", None, &["rm -rf y", OUTPUT]);
    check("x:\n\techo $(shell\trm -rf y)\n", None, &["rm -rf y", OUTPUT]);
    check("A = $(shell rm -rf y)\nx:\n\techo $(A:a=b)\n", None, &["rm -rf y", unknown]);
    check("x:\n\techo $(origin $(shell rm -rf y))\n", None, &["rm -rf y", unknown]);
    check(
        "x:\n\techo $(foreach f,a b,$(shell rm $(f)))\n",
        None,
        &[
            "rm a",
            "rm b",
            "castellan_unknown_value_0=$(rm a\n)\ncastellan_unknown_value_1=$(rm b\n)\necho ${castellan_unknown_value_0} ${castellan_unknown_value_1}",
        ],
    );
    check("x_1 = a\nN = 1\nx:\n\techo $(x_$(N))\n", None, &["echo a"]);
    check("C = rm\nV != $(C) y\nx:\n\techo\n", None, &["rm y", "echo"]);
}

#[test]
fn values_are_those_of_their_time() {
    check("A := x\nB := $(A)\nA := y\nx:\n\techo $(B)\n", None, &["echo x"]);
    check("A = x\nB = $(A)\nA = y\nx:\n\techo $(B)\n", None, &["echo y"]);
    check(".ONESHELL:\nx:\n\tcd a\n\trm b\n", None, &["cd a\nrm b"]);
    check("include y.mk\nx:\n\techo\ny.mk:\n\trm z\n", None, &["echo", "rm z"]);
}

#[test]
fn values_that_may_hold_commands_are_told() {
    check("ifdef A\nB = x; rm -rf y\nendif\nx:\n\techo $(B)\n", None, &["echo x; rm -rf y", "echo "]);
    // With too many values, the values are unknown.
    let many: String = (0..9).map(|at| format!("ifeq ($(A),{at})\nB = {at}; rm -rf y\nendif\n")).collect();
    check(
        &format!("{many}x:\n\techo $(B)\n"),
        None,
        &["echo ${castellan_unknown_value}", "hole dynamic $(B)"],
    );
}

#[test]
fn conditions_give_the_values_of_their_branches() {
    let d = |text: &str, expected: &[&str]| check(&format!("{text}\nx:\n\trm -rf $(D)/y\n"), None, expected);
    d("ifeq ($(OS),Darwin)\nD = a\nelse\nD = b\nendif", &["rm -rf a/y", "rm -rf b/y"]);
    d(
        "ifeq ($(OS),a)\nD = a\nelse ifeq ($(OS),b)\nD = b\nelse\nD = c\nendif",
        &["rm -rf a/y", "rm -rf c/y", "rm -rf b/y"],
    );
    d("D = a\nifdef CI\nD = /\nendif", &["rm -rf //y", "rm -rf a/y"]);
    d("ifndef D\nD = a\nendif", &["rm -rf a/y"]);
    d("V ?= 0\nifeq ($(V),0)\nD = a\nelse\nD = /\nendif", &["rm -rf a/y"]);
    d("ifneq \"$(wildcard a)\" \"\"\nD = a\nelse\nD = /\nendif", &["rm -rf a/y", "rm -rf //y"]);
    d("ifeq ($(shell x),y)\nD = a\nelse\nD = b\nendif", &["x", "rm -rf a/y", "rm -rf b/y"]);
    d("ifdef CI\nE = a\nendif\nE ?= b\nD := $(E)", &["rm -rf a/y", "rm -rf b/y"]);
    d("D = a\nifdef CI\nD += b\nendif", &["rm -rf a b/y", "rm -rf a/y"]);
    d("ifdef CI\nD = a\nendif\nx: D = b", &["rm -rf a/y", "rm -rf b/y", "rm -rf /y"]);
}

#[test]
fn functions_of_text_are_computed() {
    let e = |text: &str, expected: &str| {
        check(&format!("S = a/x.c b/y.c\nx:\n\trm {text}\n"), None, &[&format!("rm {expected}")]);
    };
    e("$(S:.c=.o) $(S:%.c=o/%.o)", "a/x.o b/y.o o/a/x.o o/b/y.o");
    e("$(patsubst %.c,%.o,$(S)) $(subst /,-,$(S))", "a/x.o b/y.o a-x.c b-y.c");
    e("$(dir $(S)) $(notdir $(S)) $(suffix $(S)) $(basename $(S))", "a/ b/ x.c y.c .c .c a/x b/y");
    e("$(addprefix p/,$(S)) $(addsuffix .d,$(S))", "p/a/x.c p/b/y.c a/x.c.d b/y.c.d");
    e("$(filter a/%,$(S)) $(filter-out a/%,$(S)) $(sort b a b)", "a/x.c b/y.c a b");
    e("$(firstword $(S)) $(lastword $(S)) $(word 2,$(S)) $(words $(S))", "a/x.c b/y.c b/y.c 2");
    e("$(if $(findstring x.c,$(S)),yes,no) $(if ,yes,no) $(or ,a) $(and a,b)", "yes no a b");
    e("$(foreach f,$(S),$(f).d) $(abspath x ../y) $(strip  a  b )", "a/x.c.d b/y.c.d /w/x /y a b");
    e("$(CURDIR)/o $(PWD)/o $(info $(S))z", "/w/o /w/o z");
    // Files that match a pattern. If the match is unknown, nothing is left out.
    e("$(wildcard s/*.c) $(patsubst s/%.c,o/%.o,$(wildcard s/*.c))", "s/*.c o/*.o");
    e("$(filter-out s/a.c,$(wildcard s/*.c)) $(filter %.c,$(wildcard s/*))", "s/*.c s/*");
    e("$(patsubst %.c,%.o,$(wildcard s/*))", "${castellan_unknown_value}");
    e("$(firstword $(wildcard s/*.c t/*.c))", "${castellan_unknown_value}");
    e(
        "'$(wildcard s/*)' \"$(wildcard s/*)\"",
        "'s/${castellan_unknown_value}' \"s/${castellan_unknown_value}\"",
    );
    check("x:\n\trm $(wildcard $(shell y)/*)\n", None, &["y", "rm ${castellan_unknown_value}"]);
}

#[test]
fn what_may_or_may_not_be_is_both() {
    check("x:\n\trm $(if $(wildcard c),a,/)\n", None, &["rm a", "rm /"]);
    check("x:\n\trm $(or $(wildcard c),/)\n", None, &["rm c", "rm /"]);
    check("Q = $(if $(filter 1,$(V)),,@)\nV ?= 0\nx:\n\t$(Q)rm y\n", None, &["rm y"]);
    check("ifdef W\nE = .exe\nendif\nall: p$(E)\np$(E):\n\trm $@\n", None, &["rm p", "rm p.exe"]);
    check("f = rm $(1)/$(2)\nx:\n\t$(call f,a,b)\n", None, &["rm a/b"]);
    check("f = rm $(1) $(2)\ng = $(call f,$(1))\nx:\n\t$(call g,a,/)\n", None, &["rm a "]);
    check("define f\n\t@rm $(1)\n\t-rm b\nendef\nx:\n\t$(call f,a)\n", None, &["rm a", "rm b"]);
    check(
        "export A = 1\nB = 2\nexport B\nexport C = $(shell x)\nx:\n\techo\n",
        None,
        &["x", "echo", "env A=1", "env B=2"],
    );
}

#[test]
fn variables_that_multiply_come_to_an_end() {
    let twice = |from: usize| format!("A{} = {}\n", from + 1, format!("$(A{from})").repeat(60));
    let text = (0..20).map(twice).collect::<String>() + "A0 =\nx:\n\techo $(A20)\n";
    let wanted = Wanted { verb: "run", name: None, argv: &[], env: &[], is_shown: false, directory: "/w" };
    assert!(script(&text, &wanted).holes.iter().any(|(why, _)| *why == Why::Budget));
    let text = "A := x\n".to_owned() + &"A := $(A)$(A)\n".repeat(60) + "x:\n\techo $(A)\n";
    assert!(script(&text, &wanted).holes.iter().any(|(why, _)| *why == Why::Budget));
}

#[test]
fn targets_without_a_recipe_have_one_of_their_own() {
    check("x:\n\trm x\n.DEFAULT:\n\trm $@\n", Some("y"), &["rm y"]);
    check("x: y\n.DEFAULT:\n\trm $@\n", Some("x"), &["rm y"]);
    check("x:\n\trm x\n", Some("y"), &[]);
    check("CC = rm\nx: x.h\n", Some("x.o"), &["rm    -c -o x.o x.c"]);
    check("x.o: x.h\n", None, &["cc    -c -o x.o x.c"]);
    check("CC = rm\nall:\n", Some("x"), &["rm    x.c  -o x"]);
    check("CXX = rm\n", Some("x.o"), &["cc    -c -o x.o x.c", "rm    -c -o x.o x.cc"]);
}

#[test]
fn what_makes_rules_is_not_understood() {
    check("$(eval $(call f,x))\nx:\n\techo\n", None, &["echo", "hole language $(eval $(call f,x))"]);
    check(".RECIPEPREFIX = >\nx:\n>rm -rf /\n", None, &["hole language .RECIPEPREFIX = >"]);
    check("include [ab].mk\nx:\n\techo\n", None, &["echo", "hole dynamic [ab].mk"]);
    check("x:\n\t$(file >a,b)echo\n", None, &["echo", "hole language $(file >a,b)"]);
    check("SHELL = python3\nx:\n\tprint(1)\n", None, &["print(1)", "hole language SHELL = python3"]);
}
