# find_package(quadrille): the targets quadrille::openmpi and quadrille::mpich, as far as they are installed: the runtime over
# that MPI library, which the project finds itself: target_link_libraries(app quadrille::openmpi MPI::MPI_C).
get_filename_component(quadrille_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(quadrille_VERSION @VERSION@)
set(quadrille_SCHEDULES "${quadrille_prefix}/share/quadrille")
foreach(mpi openmpi mpich)
  if(NOT TARGET quadrille::${mpi} AND EXISTS "${quadrille_prefix}/lib/libquadrille_${mpi}.so")
    add_library(quadrille::${mpi} SHARED IMPORTED)
    set_target_properties(quadrille::${mpi} PROPERTIES
      IMPORTED_LOCATION "${quadrille_prefix}/lib/libquadrille_${mpi}.so"
      IMPORTED_SONAME libquadrille_${mpi}.so.@MAJOR@
      INTERFACE_INCLUDE_DIRECTORIES "${quadrille_prefix}/include")
  endif()
endforeach()
unset(quadrille_prefix)
